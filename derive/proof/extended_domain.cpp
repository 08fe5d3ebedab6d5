#include "derive/proof/extended_domain.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace napkin::proof {
namespace {

constexpr long double kWideInfinity = std::numeric_limits<long double>::infinity();
constexpr long double kLn2 = std::numbers::ln2_v<long double>;
// Beyond these an exponential is taken as infinite or zero.
constexpr long double kLargestWideExponent = 1e15L;
constexpr int kDigits = std::numeric_limits<long double>::digits;

WideReal truth(bool value) {
    return WideReal(value ? 1 : 0);
}

/// The value, or `otherwise` where it became NaN from arguments that were none.
WideReal settled(const WideReal& value, const WideReal& a, const WideReal& b,
                 long double otherwise) {
    return value.is_nan() && !a.is_nan() && !b.is_nan() ? WideReal(otherwise) : value;
}

WideReal floor_divide(const WideReal& a, const WideReal& b) {
    return b.is_zero() ? WideReal() : WideReal(std::floor((a / b).value()));
}

WideReal power(const WideReal& a, const WideReal& exponent) {
    const long double value = exponent.value();
    if (value == std::floor(value) && std::abs(value) <= 64) {
        WideReal result(1);
        for (int i = 0; i < std::abs(value); ++i) result = result * a;
        return value < 0 ? WideReal(1) / result : result;
    }
    if (a < WideReal()) return WideReal(RealDomain::poison());
    return a.is_zero() ? WideReal(std::pow(0.0L, value))
                       : WideReal::exp(WideReal::log(a) * exponent);
}

WideReal compare(Function function, const WideReal& a, const WideReal& b) {
    const bool less = a < b;
    const bool greater = b < a;
    const bool unordered = a.is_nan() || b.is_nan();
    switch (function) {
    case Function::Less: return truth(less);
    case Function::LessEqual: return truth(!greater && !unordered);
    case Function::Greater: return truth(greater);
    case Function::GreaterEqual: return truth(!less && !unordered);
    case Function::Equal: return truth(!less && !greater && !unordered);
    case Function::NotEqual: return truth(less || greater || unordered);
    case Function::Not: return truth(a.is_zero());
    default: throw InternalError("a function that is evaluated branch by branch");
    }
}

}  // namespace

WideReal::WideReal(long double mantissa, std::int64_t exponent) {
    int shift = 0;
    mantissa_ = std::isfinite(mantissa) ? std::frexp(mantissa, &shift) : mantissa;
    exponent_ = mantissa_ == 0 || !std::isfinite(mantissa_) ? 0 : exponent + shift;
}

long double WideReal::value() const {
    constexpr std::int64_t kMost = 1 << 20;
    return std::ldexp(mantissa_, static_cast<int>(std::clamp(exponent_, -kMost, kMost)));
}

WideReal operator+(const WideReal& a, const WideReal& b) {
    if (!std::isfinite(a.mantissa_) || !std::isfinite(b.mantissa_))
        return WideReal(a.mantissa_ + b.mantissa_);
    if (a.mantissa_ == 0) return b;
    if (b.mantissa_ == 0) return a;
    const WideReal& large = a.exponent_ >= b.exponent_ ? a : b;
    const WideReal& small = a.exponent_ >= b.exponent_ ? b : a;
    const std::int64_t apart = large.exponent_ - small.exponent_;
    if (apart > kDigits + 2) return large;
    return {large.mantissa_ + std::ldexp(small.mantissa_, -static_cast<int>(apart)),
            large.exponent_};
}

bool operator<(const WideReal& a, const WideReal& b) {
    if (!std::isfinite(a.mantissa_) || !std::isfinite(b.mantissa_))
        return a.mantissa_ < b.mantissa_;
    return (a + -b).mantissa_ < 0;
}

WideReal WideReal::exp(const WideReal& a) {
    const long double x = a.value();
    if (std::isnan(x)) return a;
    if (x > kLargestWideExponent) return WideReal(kWideInfinity);
    if (x < -kLargestWideExponent) return {};
    const long double doublings = std::round(x / kLn2);
    return {std::exp(x - doublings * kLn2), static_cast<std::int64_t>(doublings)};
}

WideReal WideReal::log(const WideReal& a) {
    return WideReal(std::log(a.mantissa_) + static_cast<long double>(a.exponent_) * kLn2);
}

WideReal WideReal::sqrt(const WideReal& a) {
    const std::int64_t odd = a.exponent_ & 1;
    return {std::sqrt(std::ldexp(a.mantissa_, static_cast<int>(odd))), (a.exponent_ - odd) / 2};
}

// The same conventions as diagrams/evaluate/arithmetic.h.
WideReal ExtendedDomain::apply(Function function, std::span<const WideReal> arguments) {
    const WideReal& a = arguments[0];
    const WideReal& b = arguments.back();
    switch (function) {
    case Function::Negate: return -a;
    case Function::Add: return settled(a + b, a, b, -kWideInfinity);
    case Function::Subtract: return settled(a + -b, a, b, -kWideInfinity);
    case Function::Multiply: return settled(a * b, a, b, 0);
    case Function::Divide: return a.is_zero() && b.is_zero() ? WideReal() : a / b;
    case Function::FloorDivide: return floor_divide(a, b);
    case Function::Modulo: return b.is_zero() ? WideReal() : a + -(b * floor_divide(a, b));
    case Function::Power: return power(a, b);
    case Function::Exp: return WideReal::exp(a);
    case Function::Log: return WideReal::log(a);
    case Function::Sqrt: return WideReal::sqrt(a);
    case Function::Rsqrt: return WideReal(1) / WideReal::sqrt(a);
    case Function::Tanh: return WideReal(std::tanh(a.value()));
    case Function::Erf: return WideReal(std::erf(a.value()));
    case Function::Sin: return WideReal(std::sin(a.value()));
    case Function::Cos: return WideReal(std::cos(a.value()));
    case Function::BitAnd:
    case Function::BitOr:
    case Function::BitXor:
    case Function::ShiftLeft:
    case Function::ShiftRight: {
        const double values[] = {static_cast<double>(a.value()), static_cast<double>(b.value())};
        return WideReal(apply_function(function, values));
    }
    case Function::Abs: return a < WideReal() ? -a : a;
    case Function::Min: return a < b || a.is_nan() ? a : b;
    case Function::Max: return b < a || a.is_nan() ? a : b;
    case Function::Floor: return WideReal(std::floor(a.value()));
    case Function::Guard: return std::isinf(a.value()) ? WideReal() : a;
    default: return compare(function, a, b);
    }
}

std::vector<std::pair<WideReal, WideReal>> ExtendedDomain::select(Candidates<WideReal> elements,
                                                                  std::int64_t ranks) {
    std::stable_sort(elements.begin(), elements.end(), [](const auto& a, const auto& b) {
        if (a.first.is_nan() || b.first.is_nan()) return a.first.is_nan() && !b.first.is_nan();
        return b.first < a.first;
    });
    elements.resize(static_cast<std::size_t>(ranks), {WideReal(-kWideInfinity), kNoIndex});
    std::vector<std::pair<WideReal, WideReal>> best;
    for (const auto& [value, at] : elements)
        best.emplace_back(value, WideReal(static_cast<long double>(at)));
    return best;
}

}  // namespace napkin::proof
