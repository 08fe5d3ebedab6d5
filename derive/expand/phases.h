// What each phase of a region runs, loads and saves. A region without a stream has one phase; a
// streamed one computes its initial state, folds chunk by chunk, and reads the result out.
#pragma once

#include <set>
#include <vector>

#include "derive/expand/views.h"
#include "derive/tile_program.h"

namespace napkin {

enum class Phase { All, Initial, Body, Tail };

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
    /// Whether the view varies along a streamed axis.
    [[nodiscard]] bool is_chunked(const View& view) const;
    /// The innermost of these streams whose axis the view varies along, from 0.
    [[nodiscard]] static std::size_t loop_of(const View& view, const std::vector<Stream>& loops);
    /// A gather by an index that the region itself computes is loaded where it is first read.
    [[nodiscard]] bool is_late(const View& view) const;
    /// Whether the initial state or a chunk reads the view.
    [[nodiscard]] bool is_read_early(const View& view) const;
    [[nodiscard]] bool loaded_in(const View& view, Phase phase) const;
    [[nodiscard]] bool saved_in(ArrayId array, Phase phase) const;
    /// Whether an array is computed in one phase of a streamed region and read in a later one.
    [[nodiscard]] bool outlives_phase(ArrayId array) const;

private:
    [[nodiscard]] bool depends_on_stream(const Statement& statement,
                                         const std::set<ArrayId>& dependent) const;
    [[nodiscard]] Result<bool> collect_accumulator(std::set<ArrayId>& defined);
    void rewrite_reads();

    const Diagram& diagram_;
    const Relabelling& relabelling_;
    const Region& region_;
    RegionProgram& out_;
    ViewTable views_;
    std::vector<Statement> before_;  // initial state included
    std::vector<Statement> body_;
    std::vector<Statement> tail_;
    std::set<ArrayId> chunked_;     // arrays defined in the body
    std::set<ArrayId> read_early_;  // views read before the tail
};

}  // namespace napkin
