// Conditions on elements as kernels test them, in a loop over columns that is unrolled.
//
// `x <= q and q - x < w` is true of the columns between two numbers that are the same all along a
// row: these are computed before the loop, of `x <= a or x <= b` the greater one, and an element
// costs two comparisons whatever the mask is made of. Parts are joined without branches; only what
// reads arrays waits until the rest holds.
#pragma once

#include <set>
#include <string>

#include "codegen/lowering/expression_code.h"

namespace napkin::lowering {

/// A condition for the element; what does not depend on `columns`, names of indices, is declared in
/// `before`.
[[nodiscard]] Code element_test(const Expression& condition, const ExpressionScope& scope,
                                const ElementScope& element, const std::set<std::string>& columns,
                                kernel::Body& before);

}  // namespace napkin::lowering
