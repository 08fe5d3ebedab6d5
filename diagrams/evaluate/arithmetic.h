// The language's arithmetic on doubles, inline so that loops over many elements stay fast.
//
// Beyond IEEE there are four conventions; each replaces a NaN that would come out of infinities or
// zeros, and none touches a NaN that comes in:
//  * -inf absorbs: -inf + inf = -inf, and with a - b = a + (-b) also -inf - -inf = -inf. A finite
//    number minus -inf is +inf, as it must be for the mask of a minimum (`-(-inf)`);
//  * 0/0 = 0: an average over nothing is zero;
//  * 0 * inf = 0, whatever the sign: a weight of zero adds nothing, whatever its payload. So
//    `O * (1/l)` agrees with `O / l` on a row where nothing is visible, and P * log(P) is 0 at 0;
//  * floor division and remainder by zero are 0, since integers have no infinity.
#pragma once

#include <cmath>

#include "diagrams/expression.h"
#include "diagrams/infinity.h"

namespace napkin {

/// How many arguments a function takes.
[[nodiscard]] std::size_t arity(Function function);

}  // namespace napkin

namespace napkin::arithmetic {

inline bool any_nan(double a, double b) {
    return std::isnan(a) || std::isnan(b);
}

inline double add(double a, double b) {
    const double sum = a + b;
    return std::isnan(sum) && !any_nan(a, b) ? -kInfinity : sum;
}
inline double subtract(double a, double b) {
    const double difference = a - b;
    return std::isnan(difference) && !any_nan(a, b) ? -kInfinity : difference;
}
inline double multiply(double a, double b) {
    const double product = a * b;
    return std::isnan(product) && !any_nan(a, b) ? 0.0 : product;
}
inline double divide(double a, double b) {
    return a == 0 && b == 0 ? 0.0 : a / b;
}
inline double floor_divide(double a, double b) {
    return b == 0 ? 0.0 : std::floor(a / b);
}
inline double modulo(double a, double b) {
    return b == 0 ? 0.0 : a - b * std::floor(a / b);
}
/// NaN wins, so that it cannot be lost in a reduction.
inline double maximum(double a, double b) {
    return a > b || std::isnan(a) ? a : b;
}
inline double minimum(double a, double b) {
    return a < b || std::isnan(a) ? a : b;
}
/// Whether `a` ranks above `b`: larger ones do, and a NaN above every number.
inline bool ranks_above(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
    return a > b;
}
inline double guard(double a) {
    return std::isinf(a) ? 0.0 : a;
}
inline double rsqrt(double a) {
    return 1 / std::sqrt(a);
}
/// Powers of a half are roots, also of -inf and -0.
inline double power(double a, double b) {
    if (b == 0.5) return std::sqrt(a);
    return b == -0.5 ? rsqrt(a) : std::pow(a, b);
}

}  // namespace napkin::arithmetic
