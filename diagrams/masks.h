// Conditions outside of which elements add nothing to a fold.
#pragma once

#include <vector>

#include "diagrams/diagram.h"

namespace napkin {

/// The masks of an expression: conditions c of `if c then a else -inf` (or else 0 around an
/// exponential, or a sum's zero branch) such that where c is false the element adds nothing to a
/// fold of `monoid` over `axis`.
[[nodiscard]] std::vector<Expression> masks_of(const Diagram& diagram, const Expression& value,
                                               MonoidId monoid);

}  // namespace napkin
