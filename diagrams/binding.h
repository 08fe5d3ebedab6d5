// How tightly operators bind, for whatever writes an expression as text.
#pragma once

#include "diagrams/expression.h"

namespace napkin {

/// Loosest first; an operand is parenthesised when it binds less than its place asks.
enum class Binding { If, Or, And, Not, Compare, Sum, Product, Negate, Power, Atom };

/// How an operator of two operands binds, and what it asks of them; `Atom` of what is none.
struct Operator {
    Binding own = Binding::Atom;
    Binding left = Binding::Atom;
    Binding right = Binding::Atom;
};
[[nodiscard]] Operator operator_of(Function function);

}  // namespace napkin
