#include "derive/proof/value_range.h"

#include <algorithm>
#include <array>

#include "diagrams/infinity.h"
#include "diagrams/integer_range.h"

namespace napkin::proof {
namespace {

/// The hull of the four corners; a NaN corner (0 times unbounded) counts as 0.
template <class Operation>
ValueRange corners(const ValueRange& a, const ValueRange& b, const Operation& operation) {
    ValueRange result;
    if (a.empty() || b.empty()) return result;
    for (const double x : {a.low, a.high})
        for (const double y : {b.low, b.high}) {
            const double value = operation(x, y);
            result.low = std::min(result.low, std::isnan(value) ? 0 : value);
            result.high = std::max(result.high, std::isnan(value) ? 0 : value);
        }
    return result;
}

/// A function that rises.
template <class Operation>
ValueRange rising(const ValueRange& a, const Operation& operation) {
    return a.empty() ? ValueRange{} : range_of(operation(a.low), operation(a.high));
}

ValueRange negated(const ValueRange& a) {
    ValueRange result = a.empty() ? ValueRange{} : range_of(-a.high, -a.low);
    result.minus_infinity = a.plus_infinity;
    result.plus_infinity = a.minus_infinity;
    result.fades = a.fades;
    return result;
}

ValueRange sum(const ValueRange& a, const ValueRange& b) {
    ValueRange result;
    if (!a.empty() && !b.empty()) result = range_of(a.low + b.low, a.high + b.high);
    result.minus_infinity = a.minus_infinity || b.minus_infinity;
    result.plus_infinity = a.plus_infinity || b.plus_infinity;
    result.fades = a.fades && b.fades;
    return result;
}

ValueRange product(const ValueRange& a, const ValueRange& b) {
    ValueRange result = corners(a, b, [](double x, double y) { return x * y; });
    const bool infinite =
        a.minus_infinity || a.plus_infinity || b.minus_infinity || b.plus_infinity;
    if (infinite) {  // of either sign, and 0 where the other is 0
        result = hull(result, range_of(0));
        result.minus_infinity = result.plus_infinity = true;
    }
    result.fades = a.fades || b.fades;
    return result;
}

ValueRange quotient(const ValueRange& a, const ValueRange& b) {
    if (a.empty() || b.empty()) return hull(a, b).empty() ? ValueRange{} : range_of(0);
    const bool by_zero = b.low <= 0 && b.high >= 0;
    if (by_zero && a.low == 0 && a.high == 0) return range_of(0);
    if (by_zero) return unbounded_range();
    ValueRange result = corners(a, b, [](double x, double y) { return x / y; });
    if (b.plus_infinity || b.minus_infinity) result = hull(result, range_of(0));
    result.plus_infinity = a.plus_infinity;
    result.minus_infinity = a.minus_infinity;
    result.fades = a.fades;
    return result;
}

ValueRange power(const ValueRange& a, const ValueRange& exponent) {
    const double n = exponent.low;
    const bool constant = !exponent.empty() && exponent.low == exponent.high;
    if (!constant || a.empty()) return unbounded_range();
    const bool whole = n == std::floor(n);
    if (n < 0) {
        const std::array<ValueRange, 2> inverse{range_of(1), power(a, range_of(-n))};
        return range_of_call(Function::Divide, inverse);
    }
    if (whole && std::fmod(n, 2) == 0) {
        const double most = std::pow(a.size(), n);
        const bool across = a.low <= 0 && a.high >= 0;
        return range_of(across ? 0 : std::pow(std::min(std::abs(a.low), std::abs(a.high)), n),
                        most);
    }
    if (!whole && a.low < 0) return unbounded_range();
    return rising(a, [n](double x) { return std::pow(x, n); });
}

ValueRange exponential(const ValueRange& a) {
    ValueRange result = rising(a, [](double x) { return std::exp(x); });
    if (a.minus_infinity) result = hull(result, range_of(0));
    result.plus_infinity = a.plus_infinity;
    result.fades = a.minus_infinity;  // what is excluded
    return result;
}

ValueRange absolute(const ValueRange& a) {
    if (a.empty()) return a;
    const bool across = a.low <= 0 && a.high >= 0;
    return range_of(across ? 0 : std::min(std::abs(a.low), std::abs(a.high)), a.size());
}

/// Of what may be negative nothing is known: it may be NaN.
ValueRange root(const ValueRange& a) {
    if (!a.empty() && a.low < 0) return unbounded_range();
    return rising(a, [](double x) { return std::sqrt(x); });
}

ValueRange extreme(const ValueRange& a, const ValueRange& b, bool larger) {
    if (!larger) return negated(extreme(negated(a), negated(b), true));
    ValueRange result;
    if (a.empty() || b.empty())
        result = a.empty() ? b : a;
    else
        result = range_of(std::max(a.low, b.low), std::max(a.high, b.high));
    // Where one side may be -inf the other may be what counts.
    if (a.minus_infinity && !b.empty()) result.low = std::min(result.low, b.low);
    if (b.minus_infinity && !a.empty()) result.low = std::min(result.low, a.low);
    result.minus_infinity = a.minus_infinity && b.minus_infinity;
    result.plus_infinity = a.plus_infinity || b.plus_infinity;
    return result;
}

ValueRange remainder(const ValueRange& divisor) {
    if (divisor.low <= 0 && divisor.high >= 0) return unbounded_range();
    return divisor.empty() ? ValueRange{}
                           : range_of(std::min(divisor.low, 0.0), std::max(divisor.high, 0.0));
}

}  // namespace

ValueRange range_of(double low, double high) {
    return {low, high};
}

ValueRange with_zero(ValueRange range) {
    if (range.vanishes) range = hull(range, range_of(0));
    range.vanishes = false;
    return range;
}

ValueRange range_of(double value) {
    ValueRange result;
    if (std::isinf(value)) {
        (value < 0 ? result.minus_infinity : result.plus_infinity) = true;
        return result;
    }
    result = range_of(value, value);
    result.fades = value == 0;
    return result;
}

ValueRange unbounded_range() {
    return range_of(-kInfinity, kInfinity);
}

ValueRange hull(const ValueRange& a, const ValueRange& b) {
    const auto fades = [](const ValueRange& one) {
        const bool nothing = one.empty() && !one.minus_infinity && !one.plus_infinity;
        return nothing || one.fades;
    };
    return {std::min(a.low, b.low),
            std::max(a.high, b.high),
            a.minus_infinity || b.minus_infinity,
            a.plus_infinity || b.plus_infinity,
            a.vanishes || b.vanishes,
            fades(a) && fades(b)};
}

ValueRange flushed(ValueRange range) {
    constexpr double kSmallest = std::numeric_limits<float>::min();
    if (range.low > 0 && range.low < kSmallest) range.low = 0;
    if (range.high < 0 && range.high > -kSmallest) range.high = 0;
    return range;
}

bool fits_f32(const ValueRange& range) {
    constexpr double kLargest = 0x1p127;
    return range.size() <= kLargest;
}

bool fits(ElementType type, const ValueRange& range) {
    if (range.empty()) return true;
    const auto held = [type](double bound) {
        if (!std::isfinite(bound)) return false;
        const double rounded = round_to(type, bound);
        return is_floating(type) ? std::isfinite(rounded)
                                 : type == ElementType::Bool || rounded == std::nearbyint(bound);
    };
    return held(range.low) && held(range.high);
}

bool holds(ElementType type, const ValueRange& range) {
    const auto saturates = [type](double bound) {
        const double least = std::abs(bound) * (1 - 2 * unit_roundoff(type));
        return std::abs(bound) > 1 && std::abs(round_to(type, bound)) < least;
    };
    if (!fits(type, range)) return false;
    return range.empty() || !is_floating(type) || (!saturates(range.low) && !saturates(range.high));
}

ValueRange rounded_range(ElementType type, ValueRange range) {
    if (range.empty()) return range;
    for (double* bound : {&range.low, &range.high})
        *bound = is_floating(type) || type == ElementType::Bool ? round_to(type, *bound)
                                                                : std::nearbyint(*bound);
    return range;
}

Interval whole_range(const ValueRange& range) {
    constexpr double kLimit = 0x1p62;
    return {static_cast<std::int64_t>(std::clamp(range.low, -kLimit, kLimit)),
            static_cast<std::int64_t>(std::clamp(range.high, -kLimit, kLimit))};
}

ValueRange range_of_call(Function function, std::span<const ValueRange> arguments) {
    const ValueRange a = with_zero(arguments[0]);
    ValueRange b = with_zero(arguments.back());
    switch (function) {
    case Function::Negate: return negated(a);
    case Function::Add: return sum(a, b);
    case Function::Subtract: return sum(a, negated(b));
    case Function::Multiply: return product(a, b);
    case Function::Divide:
        // 0 / 0 is 0 where nothing is visible.
        if (a.fades) b = arguments.back();
        return quotient(a, b);
    case Function::FloorDivide:
        return rising(quotient(a, b), [](double x) { return std::floor(x); });
    case Function::Modulo: return remainder(b);
    case Function::Power: {
        ValueRange result = power(a, b);
        result.fades = a.fades && b.low > 0;
        return result;
    }
    case Function::Exp: return exponential(a);
    case Function::Log: {
        ValueRange result =
            rising(arguments[0], [](double x) { return x <= 0 ? -kInfinity : std::log(x); });
        result.minus_infinity = arguments[0].vanishes;
        return result;
    }
    case Function::Sqrt: {
        ValueRange result = root(a);
        result.fades = a.fades;
        return result;
    }
    case Function::Rsqrt: return quotient(range_of(1), root(a));
    case Function::Tanh:
    case Function::Erf:
    case Function::Sin:
    case Function::Cos: return range_of(-1, 1);
    case Function::Abs: {
        ValueRange result = absolute(a);
        result.fades = a.fades;
        return result;
    }
    case Function::Min: return extreme(a, b, false);
    case Function::Max: return extreme(a, b, true);
    case Function::Floor: return rising(a, [](double x) { return std::floor(x); });
    case Function::BitAnd:
    case Function::BitOr:
    case Function::BitXor:
    case Function::ShiftLeft:
    case Function::ShiftRight: {
        const Interval bits = bit_range(function, whole_range(a), whole_range(b));
        return range_of(static_cast<double>(bits.low), static_cast<double>(bits.high));
    }
    case Function::Guard: {
        ValueRange result = a;
        if (a.minus_infinity || a.plus_infinity) result = hull(a, range_of(0));
        result.minus_infinity = result.plus_infinity = false;
        result.fades = a.fades;
        return result;
    }
    default: return range_of(0, 1);  // comparisons and logic
    }
}

}  // namespace napkin::proof
