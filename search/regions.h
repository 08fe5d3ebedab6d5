// Regions that might be kernels: convex sets of boxes, and which of them are alike.
//
// A region's boxes hang together: by data flow, or where the diagram is small by reading the same
// array. Where there are too many such sets, regions are of only so many boxes, and the whole
// diagram is one more.
#pragma once

#include <boost/dynamic_bitset.hpp>
#include <string>
#include <vector>

#include "derive/state.h"

namespace napkin {

/// Regions of a plain state, by their places in it.
using BoxSet = boost::dynamic_bitset<>;

/// Data flow between the boxes of a plain state; all relations but `beside` are transitive.
struct BoxGraph {
    std::vector<BoxSet> before;   ///< what each needs
    std::vector<BoxSet> after;    ///< what needs it
    std::vector<BoxSet> beside;   ///< what it reads from or gives to
    std::vector<BoxSet> sharing;  ///< what reads an array that it reads too
    [[nodiscard]] std::size_t size() const { return before.size(); }
    [[nodiscard]] BoxSet none() const { return BoxSet(size()); }
};
[[nodiscard]] BoxGraph box_graph(const State& plain);
/// Whether no path leaves the set and comes back.
[[nodiscard]] bool is_convex(const BoxGraph& graph, const BoxSet& set);

struct BoxSets {
    std::vector<BoxSet> sets;
    /// Larger sets than this are left out, but for the whole; 0 where none are.
    std::size_t most_boxes = 0;
};
/// Convex sets of boxes, at most `most_boxes` each.
[[nodiscard]] BoxSets convex_sets(const BoxGraph& graph, std::size_t most_boxes);

/// What a region computes, whatever its axes and arrays are called: regions with equal texts are
/// tiled alike.
struct RegionKind {
    std::string text;
    std::vector<AxisId> axes;  ///< in the order in which the text names them
};
[[nodiscard]] RegionKind kind_of(const State& state, const Region& region);

}  // namespace napkin
