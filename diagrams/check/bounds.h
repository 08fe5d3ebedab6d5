// Proof that every access is inside its array under the conditions around it.
#pragma once

#include "diagrams/check/context.h"

namespace napkin::checking {

/// Whether every access of an expression is proved inside where `guards` hold. An integer input
/// that is an index by itself counts as proved: its contract will say so.
[[nodiscard]] bool accesses_proved(const Diagram& diagram, const Expression& expression,
                                   const std::vector<Expression>& guards);
/// Whether a guard speaks of an element by which the expression indexes an array.
[[nodiscard]] bool guards_an_index(const Expression& expression,
                                   const std::vector<Expression>& guards);

}  // namespace napkin::checking
