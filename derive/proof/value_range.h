// Ranges of values: the hull of what is finite, whether infinities of a mask's may occur, and
// whether the value is 0 where a mask excludes everything.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "diagrams/expression.h"

namespace napkin::proof {

struct ValueRange {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    bool minus_infinity = false;
    bool plus_infinity = false;
    /// Besides what is said, the value is 0 where nothing is visible: as a divisor of what is 0
    /// there too it does no harm.
    bool vanishes = false;
    /// The value is 0 where nothing is visible, so that a divisor that vanishes there does no harm.
    bool fades = false;

    [[nodiscard]] bool empty() const { return low > high; }
    [[nodiscard]] double size() const {
        return empty() ? 0 : std::max(std::abs(low), std::abs(high));
    }
    bool operator==(const ValueRange&) const = default;
};

[[nodiscard]] ValueRange range_of(double low, double high);
[[nodiscard]] ValueRange range_of(double value);  ///< an infinity is one of a mask's
[[nodiscard]] ValueRange unbounded_range();
[[nodiscard]] ValueRange hull(const ValueRange& a, const ValueRange& b);
/// With the 0 of a value that vanishes among the others.
[[nodiscard]] ValueRange with_zero(ValueRange range);
/// With the 0 that float32 may make of numbers below its smallest normal one.
[[nodiscard]] ValueRange flushed(ValueRange range);
/// Whether float32 holds every finite value of it, rounding of sums allowed for.
[[nodiscard]] bool fits_f32(const ValueRange& range);
/// Whether rounding to the type makes no infinity and, of integers, no other value.
[[nodiscard]] bool fits(ElementType type, const ValueRange& range);
/// And none less than what it rounds, as a type does that has no infinity: e4m3 has 448 in place of
/// what is larger.
[[nodiscard]] bool holds(ElementType type, const ValueRange& range);
/// After rounding to a type; what does not fit an integer type stays as it is.
[[nodiscard]] ValueRange rounded_range(ElementType type, ValueRange range);
/// The range of a function's values; every function but `if`, `and`, `or`.
[[nodiscard]] ValueRange range_of_call(Function function, std::span<const ValueRange> arguments);

}  // namespace napkin::proof
