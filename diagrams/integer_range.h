// Ranges of integers: what values an integer expression, and every value that computing it passes
// through, can have.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "diagrams/expression.h"

namespace napkin {

/// Inclusive integer bounds. Arithmetic on them saturates: an end that 64 bits do not hold is the
/// 64-bit integer nearest to it.
struct Interval {
    std::int64_t low = 0;
    std::int64_t high = 0;
    bool operator==(const Interval&) const = default;
    [[nodiscard]] bool is_one() const { return low == high; }
    /// Whether every value is one of the other's.
    [[nodiscard]] bool within(const Interval& other) const {
        return low >= other.low && high <= other.high;
    }
};
[[nodiscard]] Interval operator+(const Interval& a, const Interval& b);
[[nodiscard]] Interval operator-(const Interval& a, const Interval& b);
[[nodiscard]] Interval operator*(const Interval& a, const Interval& b);
[[nodiscard]] Interval hull(const Interval& a, const Interval& b);
/// Of a quotient rounded down and its remainder, by the language's conventions also where the
/// divisor may be 0 or negative.
[[nodiscard]] Interval floor_quotient(const Interval& a, const Interval& b);
[[nodiscard]] Interval remainder(const Interval& a, const Interval& b);
[[nodiscard]] Interval smaller(const Interval& a, const Interval& b);
[[nodiscard]] Interval larger(const Interval& a, const Interval& b);
[[nodiscard]] Interval magnitude(const Interval& a);
[[nodiscard]] Interval power(const Interval& a, std::int64_t exponent);
/// Of BitAnd, BitOr, BitXor, ShiftLeft or ShiftRight.
[[nodiscard]] Interval bit_range(Function function, const Interval& a, const Interval& b);

inline constexpr Interval kAny64 = {std::numeric_limits<std::int64_t>::min(),
                                    std::numeric_limits<std::int64_t>::max()};
inline constexpr Interval kAny32 = {std::numeric_limits<std::int32_t>::min(),
                                    std::numeric_limits<std::int32_t>::max()};
/// Integers that the language has: those that a double holds exactly.
inline constexpr Interval kExactIntegers = {-(std::int64_t{1} << 53), std::int64_t{1} << 53};

/// The values of an integer type, or of bool as 0 and 1.
[[nodiscard]] Interval range_of(ElementType type);

/// The range of an index, a size, an element or an operand; nullopt where it is no integer, or
/// where nothing is known of it.
using LeafRange = std::function<std::optional<Interval>(const Expression&)>;
/// Called with integer expressions and their ranges, parts before the whole.
using RangeVisitor = std::function<void(const Expression&, const Interval&)>;
/// The range of an integer expression; `visit` gets it and those of all integers inside the
/// expression. Nullopt where it is no integer or a leaf is not known.
std::optional<Interval> value_range(const Expression& expression, const LeafRange& leaf,
                                    const RangeVisitor& visit = {});

}  // namespace napkin
