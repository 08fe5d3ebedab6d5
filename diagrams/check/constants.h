// Constant expressions: defaults of parameters, identities of monoids, exponents.
#pragma once

#include <optional>

#include "diagrams/expression.h"
#include "diagrams/syntax.h"

namespace napkin::checking {

/// The value of an expression of numbers and arithmetic; nullopt when it names anything.
[[nodiscard]] std::optional<Number> constant_value(const syntax::Expression& expression);
/// The same for a resolved expression.
[[nodiscard]] std::optional<Number> constant_value(const Expression& expression);

}  // namespace napkin::checking
