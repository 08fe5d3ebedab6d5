// What the form of an expression says about its sign.
#pragma once

#include "diagrams/diagram.h"

namespace napkin::rules {

/// Whether the value is a sum of exponentials, or a product of such sums and positive numbers:
/// positive, but for sums of nothing, which are 0.
[[nodiscard]] bool is_sum_of_exponentials(const Diagram& diagram, const Expression& expression);

}  // namespace napkin::rules
