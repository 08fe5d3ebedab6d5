// The error bound of an expression, as an expression.
#pragma once

#include <map>
#include <vector>

#include "diagrams/diagram.h"
#include "diagrams/value_kind.h"

namespace napkin::error_bounds {

/// Where bounds of arrays and operands are found while expressions are bounded.
struct Bounds {
    const Diagram* diagram = nullptr;
    ElementType arithmetic = ElementType::F32;
    std::map<ArrayId, ArrayId> arrays;  ///< the array of bounds; absent: exact
    std::uint32_t components = 0;       ///< of the monoid, for Operand leaves
};

/// Whether all of an expression is computed in integers and conditions that do not err, where
/// literals are exact too; `operands` are the kinds of a monoid's operands.
[[nodiscard]] bool is_of_integers(const Bounds& bounds, const Expression& expression,
                                  const std::vector<ValueKind>& operands = {});
/// Zero (a Number) where the expression is exact.
[[nodiscard]] Expression error_of(const Bounds& bounds, const Expression& expression);
[[nodiscard]] bool is_zero(const Expression& expression);

// Expressions that drop zeros.
[[nodiscard]] Expression plus(Expression a, Expression b);
[[nodiscard]] Expression times(Expression a, Expression b);
[[nodiscard]] Expression larger(Expression a, Expression b);
[[nodiscard]] Expression magnitude(Expression a);
/// What passes as an error: steps, as roundings and comparisons have, are taken by all of it.
[[nodiscard]] Expression at_most(Expression error);
/// Whether the value may be anything: a condition that it depends on is not decided.
[[nodiscard]] Expression is_unknown(Expression error);
/// roundoff * |value|, 0 where the value is infinite.
[[nodiscard]] Expression rounding(double roundoff, Expression value);
/// The error after rounding to a type of a value with error `error`.
[[nodiscard]] Expression rounded_error(ElementType type, const Expression& value,
                                       const Expression& error);
/// Whole numbers made of whole numbers, and sums of so many of them: exact, those of integers
/// whatever the floating type, real ones as far as f32 has them.
[[nodiscard]] bool is_integral(const Diagram& diagram, const Expression& expression,
                               std::int64_t times = 1);

}  // namespace napkin::error_bounds
