// Differences that would cancel where no accumulator can help it: of sums that the region saves and
// another subtracts, and of running sums. Relative to a common value (invariance.h) can only be
// formed what one region folds and subtracts after its last chunk.
#pragma once

#include <vector>

#include "derive/accumulator.h"

namespace napkin::separation {

/// What is lost so when the region streams the axes: unmet obligations with examples.
[[nodiscard]] std::vector<Obligation> unsafe_differences(const Diagram& diagram,
                                                         const Region& region,
                                                         const std::vector<AxisId>& axes);

}  // namespace napkin::separation
