// The parts in which the statements of a box are drawn.
#pragma once

#include <vector>

#include "diagrams/diagram.h"

namespace napkin::drawing {

/// Sums of products are cups, and what is computed of them stands in a box that follows: each part
/// is drawn as one glyph. Sums that a call of the library makes for itself stay in its box.
[[nodiscard]] std::vector<std::vector<StatementId>> parts_of(
    const Diagram& diagram, const std::vector<StatementId>& statements);

}  // namespace napkin::drawing
