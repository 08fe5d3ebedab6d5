// Arithmetic that formula*.cpp, polynomial*.cpp and rational.cpp share: fractions that report
// overflow as a value.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "diagrams/formula.h"

namespace napkin {

[[nodiscard]] std::optional<Rational> checked_rational(std::int64_t numerator,
                                                       std::int64_t denominator);
[[nodiscard]] std::optional<Rational> checked_add(Rational a, Rational b);
[[nodiscard]] std::optional<Rational> checked_multiply(Rational a, Rational b);
[[nodiscard]] std::optional<Rational> checked_divide(Rational a, Rational b);
/// The largest integer that is not above the value.
[[nodiscard]] std::int64_t floor_of(Rational value);
/// The smallest integer that is not below the value.
[[nodiscard]] std::int64_t ceil_of(Rational value);
/// `3` or `3/2`.
[[nodiscard]] std::string text_of(Rational value);

}  // namespace napkin
