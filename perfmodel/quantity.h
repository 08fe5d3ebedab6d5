// Quantities with units: adding bytes to seconds does not compile.
#pragma once

#include <compare>

namespace napkin {

/// A number of some unit; only operations that make sense exist.
template <class Unit>
struct Quantity {
    double value = 0;
    auto operator<=>(const Quantity&) const = default;
    constexpr Quantity& operator+=(Quantity other) {
        value += other.value;
        return *this;
    }
};

template <class Unit>
[[nodiscard]] constexpr Quantity<Unit> operator+(Quantity<Unit> a, Quantity<Unit> b) {
    return {a.value + b.value};
}
template <class Unit>
[[nodiscard]] constexpr Quantity<Unit> operator-(Quantity<Unit> a, Quantity<Unit> b) {
    return {a.value - b.value};
}
template <class Unit>
[[nodiscard]] constexpr Quantity<Unit> operator*(double factor, Quantity<Unit> amount) {
    return {factor * amount.value};
}
/// A ratio of two quantities of one unit has none.
template <class Unit>
[[nodiscard]] constexpr double operator/(Quantity<Unit> a, Quantity<Unit> b) {
    return a.value / b.value;
}

/// So much of a unit a second.
template <class Unit>
struct PerSecond {};

using Seconds = Quantity<struct SecondUnit>;
using Bytes = Quantity<struct ByteUnit>;
using Operations = Quantity<struct OperationUnit>;  ///< multiplications, additions, exponentials
using Watts = Quantity<struct WattUnit>;
using Hertz = Quantity<PerSecond<struct CycleUnit>>;
using BytesPerSecond = Quantity<PerSecond<ByteUnit>>;
using OperationsPerSecond = Quantity<PerSecond<OperationUnit>>;

template <class Unit>
[[nodiscard]] constexpr Seconds operator/(Quantity<Unit> amount, Quantity<PerSecond<Unit>> rate) {
    return {amount.value / rate.value};
}

}  // namespace napkin
