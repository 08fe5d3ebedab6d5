// What a sum's value is a product of.
#pragma once

#include <vector>

#include "schedule/tile_axes.h"

namespace napkin::schedule {

/// Factors of a value, those inside a choice between it and 0 among them.
[[nodiscard]] std::vector<Expression> factors_of(const std::vector<TileAxis>& axes,
                                                 const Expression& expression);

/// Whether the expression is the number 0.
[[nodiscard]] bool is_zero(const Expression& expression);

}  // namespace napkin::schedule
