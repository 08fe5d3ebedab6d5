// Formulas in boxes: what a unit computes, with arrays by name alone and calls of the library as
// they were written. An axis' name is its size; where its index stands in the formula too, the size
// is `|x|`. Arrays that are read at different indices have these beside their names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagrams/drawing/units.h"

namespace napkin::drawing {

/// Whether a selection hides what is not chosen: its other value is the least of all.
[[nodiscard]] bool is_mask(const Apply& call);

/// `max_c`, `argmin_k`, `Σ_{r,k}`, `scan affine_t`: the sign of a fold or a selection.
[[nodiscard]] std::string sign_of(const Diagram& diagram, const Statement& statement);

/// Whether it reads an array at indices that are axes alone.
[[nodiscard]] bool is_plain_read(const Expression& expression);

/// The formulas of what leaves a unit in a few lines; none where they are too long for a box.
[[nodiscard]] std::vector<MathText> formula_of(const Diagram& diagram, const Unit& unit);
/// Likewise of a part of it.
[[nodiscard]] std::vector<MathText> expression_of(const Diagram& diagram, const Unit& unit,
                                                  const Expression& part);

}  // namespace napkin::drawing
