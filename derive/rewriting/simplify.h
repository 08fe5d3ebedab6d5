// Constants folded away, by the language's own arithmetic.
#pragma once

#include "diagrams/diagram.h"

namespace napkin::rules {

/// The expression with constant parts evaluated, branches that are decided taken, and what is
/// neutral or absorbing for every value left out: x + 0, x * 1, max(x, -inf), -inf - x.
[[nodiscard]] Expression simplified(Expression expression);

/// The exponent a - guard(b) as a - b: -inf absorbs, so exp(-inf - -inf) is 0 all the same.
void drop_guard(Expression& exponent);

}  // namespace napkin::rules
