// Formulas in boxes: what a unit computes, with arrays by name alone and calls of the library as
// they were written. An axis' name is its size; where its index stands in the formula too, the size
// is `|x|`. Arrays that are read at different indices have these beside their names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagrams/drawing/contraction.h"

namespace napkin::drawing {

/// Whether it reads an array along the axes that the array was declared with.
[[nodiscard]] bool reads_as_declared(const Diagram& diagram, const Expression& expression);
/// Whether it is one number, of literals, sizes and parameters.
[[nodiscard]] bool is_number(const Diagram& diagram, const Expression& expression);

/// What the formulas of a unit call an array.
[[nodiscard]] MathText name_in_formula(const Diagram& diagram, const Unit& unit, ArrayId array);
/// The formulas of what leaves a unit in a few lines, with `…` for parts that there is no room for.
[[nodiscard]] std::vector<MathText> formula_of(const Diagram& diagram, const Unit& unit);
/// Likewise of a part of it.
[[nodiscard]] std::vector<MathText> expression_of(const Diagram& diagram, const Unit& unit,
                                                  const Expression& part);
/// `F(A, W)`.
[[nodiscard]] std::vector<MathText> call_of(const Diagram& diagram, const Unit& unit,
                                            const std::string& name,
                                            const std::vector<ArrayId>& arguments);
/// `·2/√d`: what a unit's product is multiplied by; none where it is too long to stand beside a
/// cup.
[[nodiscard]] std::optional<MathText> factor_of(const Diagram& diagram, const Unit& unit,
                                                const std::vector<Scale>& scales);

}  // namespace napkin::drawing
