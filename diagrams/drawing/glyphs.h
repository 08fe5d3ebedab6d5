// How operations look: cups, triangles, and what is written in boxes.
#pragma once

#include <set>
#include <vector>

#include "diagrams/drawing/units.h"

namespace napkin::drawing {

/// Chooses the glyph of a unit whose arrays are known, and what is written in it and beside it.
void choose_glyph(const Diagram& diagram, Unit& unit);

/// Axes whose index the unit uses as a value or inside arithmetic, not as a plain subscript.
[[nodiscard]] std::set<AxisId> bent_axes(const Diagram& diagram, const Unit& unit);

/// The levels at which a region works, from far to near; `block` where nothing is said.
[[nodiscard]] std::vector<Level> levels_of(const Region& region);

}  // namespace napkin::drawing
