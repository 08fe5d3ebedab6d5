// The fastest way of cutting boxes into regions, exactly.
//
// A partition can run if its regions can be put in an order, each after what it needs. Read in that
// order, what has run is a set of boxes closed under needs (a cut of the diagram), and a region
// takes one cut to the next. So the fastest partition is a shortest path from the empty cut to the
// full one. Of the orders of one partition a single kind is looked at: a region runs only if it
// holds the first box that has not run, or something that a region with that box needs.
#pragma once

#include <optional>
#include <vector>

#include "search/regions.h"

namespace napkin {

/// All cuts between which regions lead.
class Cuts {
public:
    /// Nothing where there are more than `most` of them.
    [[nodiscard]] static std::optional<Cuts> of(const BoxGraph& graph,
                                                const std::vector<BoxSet>& sets, std::size_t most);

    /// The partition whose regions' times have the least sum, in an order in which they run, as
    /// places in the sets; infinite times are left out. Nothing where there is none.
    [[nodiscard]] std::optional<std::vector<std::size_t>> shortest(
        const std::vector<double>& times) const;
    [[nodiscard]] std::size_t size() const { return steps_.size(); }

private:
    struct Step {
        std::size_t set = 0;
        std::size_t to = 0;
    };
    std::vector<std::vector<Step>> steps_;  ///< from every cut, which none of them leads back to
};

}  // namespace napkin
