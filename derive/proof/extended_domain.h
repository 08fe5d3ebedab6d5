// Real numbers of wide range: a long double and a power of two.
//
// Exponentials of scores of ten thousand neither overflow nor vanish here, so this is what the
// diagram means where its own form is out of the reach of double. Only the plain diagram is
// computed so.
#pragma once

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "derive/interpret/domain.h"

namespace napkin::proof {

/// mantissa * 2^exponent; the mantissa is 0, infinite, NaN, or at least a half and below one in
/// size.
class WideReal {
public:
    WideReal() = default;
    explicit WideReal(long double value) : WideReal(value, 0) {}
    WideReal(long double mantissa, std::int64_t exponent);

    [[nodiscard]] long double value() const;  ///< rounded to the range of long double
    [[nodiscard]] bool is_nan() const { return mantissa_ != mantissa_; }
    [[nodiscard]] bool is_zero() const { return mantissa_ == 0; }
    /// Not merely too large for a long double.
    [[nodiscard]] bool is_infinite() const { return std::isinf(mantissa_); }

    friend WideReal operator-(const WideReal& a) { return {-a.mantissa_, a.exponent_}; }
    friend WideReal operator+(const WideReal& a, const WideReal& b);
    friend WideReal operator*(const WideReal& a, const WideReal& b) {
        return {a.mantissa_ * b.mantissa_, a.exponent_ + b.exponent_};
    }
    friend WideReal operator/(const WideReal& a, const WideReal& b) {
        return {a.mantissa_ / b.mantissa_, a.exponent_ - b.exponent_};
    }
    friend bool operator<(const WideReal& a, const WideReal& b);
    [[nodiscard]] static WideReal exp(const WideReal& a);
    [[nodiscard]] static WideReal log(const WideReal& a);
    [[nodiscard]] static WideReal sqrt(const WideReal& a);

private:
    long double mantissa_ = 0;
    std::int64_t exponent_ = 0;
};

class ExtendedDomain {
public:
    using Value = WideReal;
    static constexpr bool kTracksIndices = false;

    [[nodiscard]] static WideReal number(double value) { return WideReal(value); }
    [[nodiscard]] static WideReal poison() { return WideReal(RealDomain::poison()); }
    template <class Branch>
    [[nodiscard]] static WideReal choose(const WideReal& condition, const Branch& branch) {
        return branch(!condition.is_zero());
    }
    [[nodiscard]] static std::int64_t index(const WideReal& value) {
        return static_cast<std::int64_t>(value.value());
    }
    [[nodiscard]] static WideReal apply(Function function, std::span<const WideReal> arguments);
    [[nodiscard]] static WideReal read(const WideReal& element, std::span<const WideReal>) {
        return element;
    }
    /// What overflows the type is no number that anything could be judged by.
    [[nodiscard]] static WideReal round(ElementType type, const WideReal& value) {
        const double rounded = round_to(type, static_cast<double>(value.value()));
        return std::isinf(rounded) && !value.is_infinite() ? poison() : WideReal(rounded);
    }
    [[nodiscard]] static WideReal written(const Array& array, ElementType /*tile*/,
                                          const WideReal& value) {
        return array.rounds ? round(array.type, value) : value;
    }

    template <class Rule>
    static void absorb(MonoidId /*monoid*/, std::span<const WideReal> /*identity*/,
                       std::vector<WideReal>& state, std::span<const WideReal> /*element*/,
                       const Rule& rule) {
        std::vector<WideReal> next;
        for (std::size_t i = 0; i < state.size(); ++i) next.push_back(rule(i));
        state = std::move(next);
    }
    static void finish(MonoidId /*monoid*/, std::vector<WideReal>& /*state*/) {}
    [[nodiscard]] static std::vector<std::pair<WideReal, WideReal>> select(
        Candidates<WideReal> elements, std::int64_t ranks);
};

}  // namespace napkin::proof
