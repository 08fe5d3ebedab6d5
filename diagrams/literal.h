// What the decimals of a diagram mean, and arithmetic on those meanings. A derivation may compute
// with literals only where the result is again a literal of the same meaning: 0.1 * 0.1 is 0.01,
// whatever double arithmetic says of it.
#pragma once

#include <cstdint>
#include <optional>

namespace napkin {

/// Whether a number is an integer of the language: whole, and of a size up to which they are exact.
[[nodiscard]] bool is_whole(double value);

/// numerator / denominator * 2^exponent.
struct LiteralFraction {
    std::int64_t numerator = 0;
    std::int64_t denominator = 1;
    int exponent = 0;
};

/// What a finite number means: the simplest fraction that rounds to it, where that is a simple one,
/// else the double itself. So 0.1 is 1/10, and a third that was computed in double is a third.
[[nodiscard]] LiteralFraction fraction_of(double value);

/// The simplest fraction within a relative distance of a number.
[[nodiscard]] LiteralFraction simplest_fraction_near(double value, double distance);

/// The literal that means the sum, product or power of what two literals mean; nullopt where none
/// does. The root of a square is a power.
[[nodiscard]] std::optional<double> sum_of_literals(double a, double b);
[[nodiscard]] std::optional<double> product_of_literals(double a, double b);
[[nodiscard]] std::optional<double> power_of_literal(double base, double exponent);

}  // namespace napkin
