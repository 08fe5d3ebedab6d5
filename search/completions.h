// What may still come of a state: the best fusions, groups and streams that can follow, and the
// best that follow a move.
//
// Regions grow by one at a time where that is faster by the model than the parts are, and the
// fastest partition into such regions is chosen exactly (partition.h). Of each the sizes of tiles
// are tried from a prepared cost, for kernels as a good schedule would make them. What a move leads
// to is read off the same numbers: two regions fused stand in one region of the partition, and of a
// region that has a group the tilings with this size are left.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "perfmodel/block_time.h"
#include "perfmodel/machine.h"
#include "search/partition.h"
#include "search/tiling_space.h"

namespace napkin {

/// Where a state may end: how fast, and after how many commands.
struct Completion {
    double seconds = std::numeric_limits<double>::infinity();
    std::size_t commands = 0;
    [[nodiscard]] bool exists() const { return seconds < std::numeric_limits<double>::infinity(); }
};

class Completions {
public:
    /// Of these regions of a state, with what reads them and what they read; `seconds` is how long
    /// each region of the state takes as it is.
    Completions(const State& state, const Machine& machine, const std::vector<std::size_t>& regions,
                std::vector<double> seconds);

    /// The regions of the best that are several of the state's.
    [[nodiscard]] const std::vector<BoxSet>& fusions() const { return fusions_; }
    /// After these regions are fused; none where they were not looked at.
    [[nodiscard]] Completion after_fusion(const BoxSet& regions) const;
    /// After a region got a group or a stream at block level of this size; none where the rules
    /// refuse that.
    [[nodiscard]] Completion after_tile(std::size_t region, Symbol symbol, std::int64_t size) const;

private:
    /// A region that may come, with its best tiling, and the best for each size of each tile.
    struct Tiled {
        BoxSet set;
        Completion best;
        double roomy = std::numeric_limits<double>::infinity();  ///< seconds, were there room
        std::map<std::pair<Symbol, std::int64_t>, Completion> with;
    };

    void grow(const std::vector<std::size_t>& regions);
    [[nodiscard]] bool tile(Tiled& tiled);
    [[nodiscard]] bool is_hopeless(const Tiled& tiled, const State& state,
                                   const Region& region) const;
    void try_space(const TilingSpace& space, std::size_t before, Tiled& tiled) const;
    [[nodiscard]] double fastest_parts(const BoxSet& set) const;
    [[nodiscard]] Completion shortest(const std::vector<Completion>& of_sets,
                                      std::vector<std::size_t>* partition = nullptr) const;
    [[nodiscard]] std::optional<State> fused(const BoxSet& set) const;

    const State& state_;
    const Machine& machine_;
    BlockClock clock_;
    double capacity_ = 0;          ///< bytes of a block
    std::vector<double> seconds_;  ///< of the regions as they are
    BoxGraph graph_;
    std::vector<Tiled> tiled_;
    std::optional<Cuts> cuts_;
    std::vector<BoxSet> fusions_;
};

}  // namespace napkin
