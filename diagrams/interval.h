// Interval reasoning about index expressions and masks over tiles of axes.
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

enum class Coverage { Empty, Partial, Full };
/// Whether a boolean expression holds nowhere, somewhere or everywhere in a tile; Partial where it
/// cannot tell. Comparisons are decided on the difference of their sides, so that `x <= q` over
/// overlapping tiles is exact.
[[nodiscard]] Coverage coverage(const std::vector<Axis>& axes, const Expression& condition,
                                const Ranges& ranges);

/// The masks of an expression: conditions c of `if c then a else -inf` (or else 0 around an
/// exponential, or a sum's zero branch) such that where c is false the element adds nothing to a
/// fold of `monoid` over `axis`.
[[nodiscard]] std::vector<Expression> masks_of(const Diagram& diagram, const Expression& value,
                                               MonoidId monoid);

}  // namespace napkin
