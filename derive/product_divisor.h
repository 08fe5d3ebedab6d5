// What divides a product of matrices by data, where it has to divide a factor.
#pragma once

#include "derive/contraction.h"

namespace napkin {

/// The divisor that keeps a statement from being a contraction: it reads data and divides a
/// product, `A * B / w`, and not a factor, `(A / w) * B`, which is another value where infinity is
/// divided by infinity.
[[nodiscard]] std::optional<Expression> divisor_of_product(const Statement& statement,
                                                           const std::vector<AxisId>& target,
                                                           const AxisFilter& counts,
                                                           const AxesAlong& along = axes_used);

}  // namespace napkin
