// How operations look: what counts as a contraction of wires, what is written in a box.
#pragma once

#include <optional>
#include <vector>

#include "diagrams/drawing/units.h"

namespace napkin::drawing {

/// A unit that only joins wires: a product of arrays, summed over some axes.
struct Contraction {
    std::vector<UnitInput> inputs;  ///< one a factor, in order; an array may come twice
    std::vector<AxisId> folded;
};
[[nodiscard]] std::optional<Contraction> as_contraction(const Diagram& diagram, const Unit& unit);

/// What is written in a unit's box, line by line: the operation's name, a formula, or where that is
/// too long a fold's sign or the name of what comes out.
[[nodiscard]] std::vector<MathText> box_label(const Diagram& diagram, const Unit& unit);

/// The levels at which a region works, from far to near; `block` where nothing is said.
[[nodiscard]] std::vector<Level> levels_of(const Region& region);

}  // namespace napkin::drawing
