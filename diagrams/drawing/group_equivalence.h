// Why grouping is allowed, as a picture: an algorithm weaved over an axis equals sub-algorithms on
// parts of that axis, split and joined again.
#pragma once

#include "diagrams/drawing/layout.h"

namespace napkin::drawing {

/// An algorithm as a box between stacks of wires.
struct WeavedAlgorithm {
    std::string name;                              ///< written in the box
    std::string axis;                              ///< the weaved axis
    std::vector<std::vector<std::string>> inputs;  ///< axes of each array, `axis` among them
    std::vector<std::vector<std::string>> outputs;
};

/// A region as one box; the axis must be kept by all that it saves.
[[nodiscard]] WeavedAlgorithm weaved_algorithm(const Diagram& diagram, const Region& region,
                                               AxisId axis);

/// The equivalence: the box, the sign, and two sub-algorithms between open circles (where the axis
/// is split and joined) and dots (where the rest is copied).
[[nodiscard]] Canvas draw_group_equivalence(const WeavedAlgorithm& algorithm);

}  // namespace napkin::drawing
