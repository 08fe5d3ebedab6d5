// Integer arithmetic that may overflow, and division that rounds down.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace napkin {

/// A 64-bit integer, or nothing once a result did not fit.
struct CheckedInt {
    std::optional<std::int64_t> value;

    CheckedInt(std::int64_t number) : value(number) {}  // NOLINT(google-explicit-constructor)
    CheckedInt(std::optional<std::int64_t> number)      // NOLINT(google-explicit-constructor)
        : value(number) {}
    CheckedInt(std::nullopt_t) {}  // NOLINT(google-explicit-constructor)
    explicit operator bool() const { return value.has_value(); }
    std::int64_t operator*() const { return *value; }
};
inline CheckedInt operator+(CheckedInt a, CheckedInt b) {
    std::int64_t sum = 0;
    if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
    return sum;
}
inline CheckedInt operator-(CheckedInt a, CheckedInt b) {
    std::int64_t difference = 0;
    if (!a || !b || __builtin_sub_overflow(*a, *b, &difference)) return std::nullopt;
    return difference;
}
inline CheckedInt operator*(CheckedInt a, CheckedInt b) {
    std::int64_t product = 0;
    if (!a || !b || __builtin_mul_overflow(*a, *b, &product)) return std::nullopt;
    return product;
}

/// Puts the number there where there is one; whether there is.
[[nodiscard]] inline bool put(CheckedInt number, std::int64_t& place) {
    if (number) place = *number;
    return number.value.has_value();
}

/// The sum, or the 64-bit integer nearest to it.
inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
    using Limits = std::numeric_limits<std::int64_t>;
    return (CheckedInt(a) + CheckedInt(b)).value.value_or(a < 0 ? Limits::min() : Limits::max());
}
/// The product, or the 64-bit integer nearest to it.
inline std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
    using Limits = std::numeric_limits<std::int64_t>;
    return (CheckedInt(a) * CheckedInt(b))
        .value.value_or((a < 0) != (b < 0) ? Limits::min() : Limits::max());
}

/// a / b rounded down, or the 64-bit integer nearest to it; b is not 0.
inline std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
    if (b == -1) return saturating_multiply(a, b);
    const std::int64_t quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

}  // namespace napkin
