#include "diagrams/literal.h"

#include <cmath>
#include <limits>
#include <utility>

#include <boost/multiprecision/cpp_int.hpp>

namespace napkin {
namespace {

using Exact = boost::multiprecision::cpp_rational;

constexpr double kLargestWhole = 0x1p53;
/// Powers beyond this are left as they are written.
constexpr double kLargestPower = 64;

/// The simplest fraction in an interval of positive numbers, by continued fractions: a whole number
/// in between, or the whole part and the simplest reciprocal of the rest.
LiteralFraction simplest_between(long double low, long double high) {
    LiteralFraction last{0, 1};
    LiteralFraction found{1, 0};
    while (true) {
        const bool done = std::ceil(low) <= high;
        const auto digit = static_cast<std::int64_t>(done ? std::ceil(low) : std::floor(low));
        const LiteralFraction next{digit * found.numerator + last.numerator,
                                   digit * found.denominator + last.denominator};
        last = std::exchange(found, next);
        if (done || found.denominator > (std::int64_t{1} << 26)) return found;
        const long double rest = low - static_cast<long double>(digit);
        low = 1 / (high - static_cast<long double>(digit));
        high = 1 / rest;
    }
}

Exact exact(double value) {
    const LiteralFraction fraction = fraction_of(value);
    Exact result(fraction.numerator, fraction.denominator);
    const boost::multiprecision::cpp_int scale = boost::multiprecision::cpp_int(1)
                                                 << std::abs(fraction.exponent);
    if (fraction.exponent < 0) return result / scale;
    return result * scale;
}

/// The number, if that is what it means.
std::optional<double> meaning(double number, const Exact& meant) {
    const bool means = std::isfinite(number) && exact(number) == meant;
    return means ? std::optional(number) : std::nullopt;
}

}  // namespace

bool is_whole(double value) {
    return std::abs(value) <= kLargestWhole && value == std::floor(value);
}

LiteralFraction fraction_of(double value) {
    if (is_whole(value)) return {static_cast<std::int64_t>(value), 1, 0};
    const double size = std::abs(value);
    if (size > 0x1p-20 && size < 0x1p20) {
        const double below = std::nextafter(size, 0.0);
        const double above = std::nextafter(size, std::numeric_limits<double>::infinity());
        const long double middle = size;
        LiteralFraction found = simplest_between((below + middle) / 2, (above + middle) / 2);
        const double back =
            static_cast<double>(found.numerator) / static_cast<double>(found.denominator);
        if (value < 0) found.numerator = -found.numerator;
        if (back == size) return found;
    }
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    return {static_cast<std::int64_t>(std::ldexp(mantissa, 53)), 1, exponent - 53};
}

LiteralFraction simplest_fraction_near(double value, double distance) {
    if (value == 0) return {0, 1, 0};
    const long double size = std::abs(value);
    LiteralFraction found = simplest_between(size * (1 - distance), size * (1 + distance));
    if (value < 0) found.numerator = -found.numerator;
    return found;
}

std::optional<double> sum_of_literals(double a, double b) {
    if (!std::isfinite(a) || !std::isfinite(b)) return std::nullopt;
    if (is_whole(a) && is_whole(b) && is_whole(a + b)) return a + b;
    const Exact sum = exact(a) + exact(b);
    return meaning(sum.convert_to<double>(), sum);
}

std::optional<double> product_of_literals(double a, double b) {
    if (!std::isfinite(a) || !std::isfinite(b)) return std::nullopt;
    if (std::abs(a) == 1 || std::abs(b) == 1 || (is_whole(a) && is_whole(b) && is_whole(a * b)))
        return a * b;
    const Exact product = exact(a) * exact(b);
    return meaning(product.convert_to<double>(), product);
}

std::optional<double> power_of_literal(double base, double exponent) {
    if (exponent == 1 || base == 1) return base;
    if (!std::isfinite(base) || std::abs(exponent) > kLargestPower) return std::nullopt;
    if (exponent != std::floor(exponent)) {  // a root is one where its square is the number
        const double root = std::sqrt(base);
        if (2 * exponent != std::floor(2 * exponent) || product_of_literals(root, root) != base)
            return std::nullopt;
        return power_of_literal(root, 2 * exponent);
    }
    if (base == 0 && exponent <= 0) return std::nullopt;
    const Exact one = exponent < 0 ? 1 / exact(base) : exact(base);
    Exact power = 1;
    for (int i = 0; i < static_cast<int>(std::abs(exponent)); ++i) power *= one;
    return meaning(power.convert_to<double>(), power);
}

}  // namespace napkin
