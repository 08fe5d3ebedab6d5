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

/// What decided bounds on the way: which of two ends was less, which numbers did more than add.
/// As long as it is the same, the bounds are affine in the ends of the ranges. So where it is the
/// same at the corners of a box of tiles, the bounds are affine in where a tile of the box stands:
/// ends that are compared are affine themselves, and those that compare alike at the corners of a
/// box do so within.
class Turns {
public:
    void compare(std::int64_t a, std::int64_t b);
    void compare(const Interval& a, const Interval& b);  ///< their ends
    void keep(const Interval& range);                    ///< same ends
    void clear() { taken_.clear(); }
    /// Leaves what is of both; false where something is of one alone.
    [[nodiscard]] bool agree(const Turns& other);

private:
    std::vector<Interval> taken_;  ///< each with what it might as well have been
};

/// Bounds of an integer expression over a tile; nullopt where it depends on data or is not an
/// integer expression. Exact for sums of distinct axes with constant factors, a hull otherwise.
[[nodiscard]] std::optional<Interval> bounds(const std::vector<Axis>& axes,
                                             const Expression& expression, const Ranges& ranges);
/// Likewise, with what decided them behind what decided others.
[[nodiscard]] std::optional<Interval> bounds(const std::vector<Axis>& axes,
                                             const Expression& expression, const Ranges& ranges,
                                             Turns& turns);

}  // namespace napkin
