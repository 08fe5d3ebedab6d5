// The fastest partition of a diagram into tiled regions, from one start.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "search/search.h"
#include "search/starts.h"
#include "search/tilings.h"

namespace napkin {

/// Regions that are tiled alike, of whichever start.
struct KnownKind {
    std::vector<std::string> axes;  ///< as the tilings call them
    double least = 0;               ///< seconds
    std::optional<std::vector<Tiling>> tilings;
    /// Of one statement in a search that may be stopped: what there is before it is tiled.
    std::optional<std::vector<Tiling>> first = {};
};

/// What searches from several starts share, with what they counted.
struct Known {
    std::map<std::string, KnownKind> kinds;  ///< by their texts
    std::size_t tiled = 0;
    std::size_t most_boxes = 0;
    std::int64_t evaluated = 0;
    std::int64_t too_large = 0;
    std::int64_t kernels = 0;
    std::int64_t not_served = 0;
    std::vector<Fault> faults;
};

struct WholeResult {
    std::vector<Candidate> ranked;
    bool stopped = false;
};

/// From a state in which nothing is tiled, for what is faster than a rival.
[[nodiscard]] WholeResult search_whole(const Start& start, const Machine& machine,
                                       const SearchOptions& options, Seconds rival, Known& known);

}  // namespace napkin
