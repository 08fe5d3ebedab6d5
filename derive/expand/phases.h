// What each phase of a region runs, loads and saves. A region without a stream has one phase; a
// streamed one computes its initial state, folds chunk by chunk, and reads the result out. Where
// further axes are streamed inside a chunk, that has these phases too, before its body.
#pragma once

#include <compare>
#include <map>
#include <set>
#include <vector>

#include "derive/expand/views.h"
#include "derive/tile_program.h"

namespace napkin {

struct Phase {
    enum class Kind { All, Initial, Body, Tail };
    Kind kind = Kind::All;
    std::size_t depth = 0;  ///< of the streams: 1 for those inside a chunk of the first
    auto operator<=>(const Phase&) const = default;
};
inline constexpr Phase kAll{Phase::Kind::All, 0};
inline constexpr Phase initial_at(std::size_t depth) {
    return {Phase::Kind::Initial, depth};
}
inline constexpr Phase body_at(std::size_t depth) {
    return {Phase::Kind::Body, depth};
}
inline constexpr Phase tail_at(std::size_t depth) {
    return {Phase::Kind::Tail, depth};
}

/// The statements of one region by phase, their reads of loaded arrays rewritten to views.
class Phases {
public:
    Phases(const State& state, const Region& region, RegionProgram& out)
        : diagram_(state.diagram),
          relabelling_(state.relabelling),
          region_(region),
          out_(out),
          views_(state.diagram, region, out.arrays) {}

    /// Derives the accumulator of a streamed region and fills the phases; adds the accumulator and
    /// the arrays of views to the region's program.
    [[nodiscard]] Result<bool> collect(OpaqueBoxes opaque);

    [[nodiscard]] const ViewTable& views() const { return views_; }
    [[nodiscard]] const std::vector<Statement>& statements(Phase phase) const;
    /// The axes that are streamed together, those inside their chunks, and so on.
    [[nodiscard]] const std::vector<std::vector<AxisId>>& streamed() const { return streamed_; }
    /// Whether the view varies along a streamed axis.
    [[nodiscard]] bool is_chunked(const View& view) const;
    /// The innermost of these streams whose axis the view varies along, from 0.
    [[nodiscard]] static std::size_t loop_of(const View& view, const std::vector<Stream>& loops);
    /// A gather by an index that the region itself computes is loaded where it is first read.
    [[nodiscard]] bool is_late(const View& view) const;
    /// The late views that a statement is computed from, those that index another before it.
    [[nodiscard]] std::vector<View> late_views(const Statement& statement) const;
    /// Whether the initial state or a chunk reads the view.
    [[nodiscard]] bool is_read_early(const View& view) const;
    /// Whether what is streamed inside a chunk reads the view, which only the chunk around it
    /// changes: below the streams it is kept from before those loops to the chunk's end.
    [[nodiscard]] bool is_read_inside(const View& view) const;
    /// The phase in which a level loads the view; `below` where no level from it on streams.
    [[nodiscard]] bool loaded_in(const View& view, Phase phase, bool below) const;
    [[nodiscard]] bool saved_in(ArrayId array, Phase phase) const;
    /// Whether an array is computed in one phase of a streamed region and read in a later one,
    /// by a gather's index too.
    [[nodiscard]] bool outlives_phase(ArrayId array) const;

private:
    [[nodiscard]] bool depends_on_stream(const Statement& statement,
                                         const std::set<ArrayId>& dependent) const;
    [[nodiscard]] Result<bool> collect_accumulator(std::set<ArrayId>& defined);
    void collect_phases(const Accumulator& accumulator);
    [[nodiscard]] std::vector<Phase> in_order() const;
    void rewrite_reads();
    /// What a statement reads, and what its gathers are indexed by.
    [[nodiscard]] std::set<ArrayId> read_for(const Statement& statement) const;
    void rewrite_gauges(Accumulator& accumulator);
    [[nodiscard]] std::size_t depth_of(const View& view) const;

    const Diagram& diagram_;
    const Relabelling& relabelling_;
    const Region& region_;
    RegionProgram& out_;
    ViewTable views_;
    std::map<Phase, std::vector<Statement>> statements_;
    std::vector<std::vector<AxisId>> streamed_;
    std::set<ArrayId> chunked_;               // arrays defined in the body, or inside of it
    std::set<ArrayId> read_early_;            // views read before the tail
    std::map<ArrayId, std::size_t> read_at_;  // the deepest streams that read a view
};

}  // namespace napkin
