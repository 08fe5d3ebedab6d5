// Interval reasoning about index expressions over tiles of axes.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "diagrams/diagram.h"
#include "diagrams/integer_range.h"

namespace napkin {

/// Current bounds of each axis, inclusive; an axis that is absent has its whole extent.
using Ranges = std::map<AxisId, Interval>;

/// Bounds of an integer expression over a tile; nullopt where it depends on data or is not an
/// integer expression. Exact for sums of distinct axes with constant factors, a hull otherwise.
[[nodiscard]] std::optional<Interval> bounds(const std::vector<Axis>& axes,
                                             const Expression& expression, const Ranges& ranges);

}  // namespace napkin
