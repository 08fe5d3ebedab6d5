// Fractions in lowest terms, checked against overflow.
#include <numeric>

#include "diagrams/checked.h"
#include "diagrams/formula.h"
#include "diagrams/formula_parts.h"

namespace napkin {

std::optional<Rational> checked_rational(std::int64_t numerator, std::int64_t denominator) {
    constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
    if (denominator == 0 || numerator == kLowest || denominator == kLowest) return std::nullopt;
    const std::int64_t common = std::gcd(numerator, denominator);
    const std::int64_t sign = denominator < 0 ? -1 : 1;
    return Rational{sign * (numerator / common), sign * (denominator / common)};
}

std::optional<Rational> checked_add(Rational a, Rational b) {
    if (a.denominator == 1 && b.denominator == 1) {
        const CheckedInt whole = CheckedInt(a.numerator) + b.numerator;
        return whole ? std::optional(Rational{*whole, 1}) : std::nullopt;
    }
    const std::int64_t common = std::gcd(a.denominator, b.denominator);
    const CheckedInt sum = CheckedInt(a.numerator) * (b.denominator / common) +
                           CheckedInt(b.numerator) * (a.denominator / common);
    const CheckedInt denominator = CheckedInt(a.denominator) * (b.denominator / common);
    if (!sum || !denominator) return std::nullopt;
    return checked_rational(*sum, *denominator);
}

std::optional<Rational> checked_multiply(Rational a, Rational b) {
    if (a.denominator == 1 && b.denominator == 1) {
        const CheckedInt whole = CheckedInt(a.numerator) * b.numerator;
        return whole ? std::optional(Rational{*whole, 1}) : std::nullopt;
    }
    const std::int64_t cross = std::gcd(a.numerator, b.denominator);
    const std::int64_t other = std::gcd(b.numerator, a.denominator);
    const CheckedInt numerator = CheckedInt(a.numerator / cross) * (b.numerator / other);
    const CheckedInt denominator = CheckedInt(a.denominator / other) * (b.denominator / cross);
    if (!numerator || !denominator) return std::nullopt;
    return checked_rational(*numerator, *denominator);
}

std::optional<Rational> checked_divide(Rational a, Rational b) {
    const std::optional<Rational> inverse = checked_rational(b.denominator, b.numerator);
    if (!inverse) return std::nullopt;
    return checked_multiply(a, *inverse);
}

std::int64_t floor_of(Rational value) {
    const std::int64_t quotient = value.numerator / value.denominator;
    return value.numerator % value.denominator < 0 ? quotient - 1 : quotient;
}

std::int64_t ceil_of(Rational value) {
    const std::int64_t quotient = value.numerator / value.denominator;
    return value.numerator % value.denominator > 0 ? quotient + 1 : quotient;
}

namespace {

Rational or_throw(const std::optional<Rational>& value) {
    invariant(value.has_value(), "a fraction does not fit in 64 bits or divides by zero");
    return *value;
}

}  // namespace

Rational rational(std::int64_t numerator, std::int64_t denominator) {
    return or_throw(checked_rational(numerator, denominator));
}
Rational operator+(Rational a, Rational b) {
    return or_throw(checked_add(a, b));
}
Rational operator-(Rational a, Rational b) {
    return a + rational(-1) * b;
}
Rational operator*(Rational a, Rational b) {
    return or_throw(checked_multiply(a, b));
}
Rational operator/(Rational a, Rational b) {
    return or_throw(checked_divide(a, b));
}

bool operator<(Rational a, Rational b) {
    if (a.denominator == 1 && b.denominator == 1) return a.numerator < b.numerator;
    const std::int64_t whole_a = floor_of(a);
    const std::int64_t whole_b = floor_of(b);
    if (whole_a != whole_b) return whole_a < whole_b;
    // Remainders in (0, 1): a < b exactly when 1/b < 1/a, on smaller numbers (Euclid).
    const std::int64_t rest_a = a.numerator - whole_a * a.denominator;
    const std::int64_t rest_b = b.numerator - whole_b * b.denominator;
    if (rest_a == 0 || rest_b == 0) return rest_a < rest_b;
    return Rational{b.denominator, rest_b} < Rational{a.denominator, rest_a};
}

double to_double(Rational value) {
    return static_cast<double>(value.numerator) / static_cast<double>(value.denominator);
}

}  // namespace napkin
