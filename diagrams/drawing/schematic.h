// Formulas in boxes: what a unit computes, with arrays by name alone and calls of the library as
// they were written.
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

/// The formula of a unit's last statement in a few lines; none where it is too long for a box.
[[nodiscard]] std::vector<MathText> formula_of(const Diagram& diagram, const Unit& unit);
/// Likewise of the condition of a mask.
[[nodiscard]] std::vector<MathText> condition_of(const Diagram& diagram, const Unit& unit,
                                                 const Expression& condition);

}  // namespace napkin::drawing
