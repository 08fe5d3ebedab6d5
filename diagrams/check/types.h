// Kinds of values: conditions, whole numbers, real numbers.
#pragma once

#include "diagrams/check/context.h"

namespace napkin::checking {

enum class Kind { Bool, Integer, Real };

/// The kind of an array's elements.
[[nodiscard]] Kind kind_of(ElementType type);
/// The kind of an expression; `operands` are those of a monoid's operands. Says nothing of errors.
[[nodiscard]] Kind kind_of(const Diagram& diagram, const Expression& expression,
                           const std::vector<Kind>& operands = {});
/// Reports what does not fit together inside an expression; whether all did.
bool check_types(Context& context, const Expression& expression);
/// Gives the targets of a statement their types, inferred or as declared; reports what does not
/// fit.
void assign_types(Context& context, const Statement& statement);

}  // namespace napkin::checking
