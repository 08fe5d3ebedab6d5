// What is written in boxes: the operation's name, a sign, a formula, and which wires are whose.
#pragma once

#include "diagrams/drawing/units.h"

namespace napkin::drawing {

/// Writes what a unit's box says, and beside its wires the names by which that calls them.
void label_box(const Diagram& diagram, Unit& unit);

/// Once the order is known in which a unit's arrays come in from above: an operation that its name
/// alone stands for takes them in that order, or says in which.
void say_order(Unit& unit);

}  // namespace napkin::drawing
