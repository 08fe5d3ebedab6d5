// Arithmetic of the language: IEEE but for conventions that make rows on which nothing is visible
// come out as zero. -inf absorbs in sums and differences, also against itself; 0/0 and 0 * inf are
// 0; integer division by zero is 0.
#pragma once

#include "scalar.cuh"

namespace nk {

NK_DEVICE float infinity() {
    return float_of(0x7f800000u);
}
NK_DEVICE float minus_infinity() {
    return float_of(0xff800000u);
}

// A NaN that comes in stays; one that infinities or zeros would make is replaced.
NK_DEVICE float add(float a, float b) {
    const float sum = a + b;
    return is_nan(sum) && !is_nan(a) && !is_nan(b) ? minus_infinity() : sum;
}
NK_DEVICE float subtract(float a, float b) {
    const float difference = a - b;
    return is_nan(difference) && !is_nan(a) && !is_nan(b) ? minus_infinity() : difference;
}
NK_DEVICE float multiply(float a, float b) {
    const float product = a * b;
    return is_nan(product) && !is_nan(a) && !is_nan(b) ? 0.0f : product;
}
NK_DEVICE float divide(float a, float b) {
    return a == 0 && b == 0 ? 0.0f : a / b;
}
/// 0 where x is infinite, else x.
NK_DEVICE float guard(float x) {
    return x == infinity() || x == minus_infinity() ? 0.0f : x;
}
// NaN wins, so that it cannot be lost in a reduction.
NK_DEVICE float maximum(float a, float b) {
#ifdef NK_IN_ONE_INSTRUCTION
    return maximum_or_nan(a, b);
#else
    return a > b || is_nan(a) ? a : b;
#endif
}
NK_DEVICE float minimum(float a, float b) {
#ifdef NK_IN_ONE_INSTRUCTION
    return minimum_or_nan(a, b);
#else
    return a < b || is_nan(a) ? a : b;
#endif
}
NK_DEVICE int maximum(int a, int b) {
    return a > b ? a : b;
}
NK_DEVICE int minimum(int a, int b) {
    return a < b ? a : b;
}
NK_DEVICE i64 maximum(i64 a, i64 b) {
    return a > b ? a : b;
}
NK_DEVICE i64 minimum(i64 a, i64 b) {
    return a < b ? a : b;
}

// Conditions without branches.
NK_DEVICE bool both(bool a, bool b) {
    return (int(a) & int(b)) != 0;
}
NK_DEVICE bool either(bool a, bool b) {
    return (int(a) | int(b)) != 0;
}
template <class Least, class Value, class Most>
NK_DEVICE bool between(Least least, Value value, Most most) {
    return both(least <= value, value <= most);
}

// Quotients of integers round down, and remainders have the divisor's sign. The least integer has
// no quotient by -1 and stays itself; machines do not divide it.
NK_DEVICE int floor_divide(int a, int b) {
    if (b == 0) return 0;
    if (b == -1) return int(u32(0) - u32(a));
    const int quotient = a / b;
    return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
NK_DEVICE i64 floor_divide(i64 a, i64 b) {
    if (b == 0) return 0;
    if (b == -1) return i64(u64(0) - u64(a));
    const i64 quotient = a / b;
    return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
NK_DEVICE float floor_divide(float a, float b) {
    return b == 0 ? 0.0f : floorf(a / b);
}
NK_DEVICE int modulo(int a, int b) {
    return b == 0 || b == -1 ? 0 : a - b * floor_divide(a, b);
}
NK_DEVICE i64 modulo(i64 a, i64 b) {
    return b == 0 || b == -1 ? 0 : a - b * floor_divide(a, b);
}
NK_DEVICE float modulo(float a, float b) {
    return b == 0 ? 0.0f : a - b * floorf(a / b);
}
// Integers as two's complement; a * 2^n and a // 2^n, and 0 for a negative n.
template <class T>
NK_DEVICE T bit_and(T a, T b) {
    return a & b;
}
template <class T>
NK_DEVICE T bit_or(T a, T b) {
    return a | b;
}
template <class T>
NK_DEVICE T bit_xor(T a, T b) {
    return a ^ b;
}
template <class T>
NK_DEVICE T shift_left(T a, T n) {
    return n < 0 || n >= T(8 * sizeof(T)) ? T(0) : T(u64(a) << n);
}
template <class T>
NK_DEVICE T shift_right(T a, T n) {
    if (n < 0) return 0;
    return a >> (n >= T(8 * sizeof(T)) ? T(8 * sizeof(T) - 1) : n);
}
NK_DEVICE int absolute(int a) {
    return a < 0 ? -a : a;
}
NK_DEVICE i64 absolute(i64 a) {
    return a < 0 ? -a : a;
}
NK_DEVICE float absolute(float a) {
    return fabsf(a);
}

/// x to a whole power, by repeated squares: what they are of overflows where the power does.
template <int kExponent, class T>
NK_DEVICE T multiplied(T x) {
    static_assert(kExponent >= 0);
    if constexpr (kExponent == 0) {
        return 1;
    } else if constexpr (kExponent == 1) {
        return x;
    } else if constexpr (kExponent % 2 == 1) {
        return multiplied<kExponent - 1>(x) * x;
    } else {
        const T root = multiplied<kExponent / 2>(x);
        return root * root;
    }
}
template <int kExponent>
NK_DEVICE float integer_power(float x) {
    if constexpr (kExponent < 0)
        return 1.0f / multiplied<-kExponent>(x);
    else
        return multiplied<kExponent>(x);
}
template <int kExponent>
NK_DEVICE int integer_power(int x) {
    return multiplied<kExponent>(x);
}
template <int kExponent>
NK_DEVICE i64 integer_power(i64 x) {
    return multiplied<kExponent>(x);
}

/// acc[i][j] += a[i] * b[j].
template <int kRows, int kColumns>
NK_DEVICE void outer_product(float (&acc)[kRows][kColumns], const float (&a)[kRows],
                             const float (&b)[kColumns]) {
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int j = 0; j < kColumns; ++j) acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
}

/// Computes elements that came out as NaN again, by `exact(i, j)`: multiply-adds do not know the
/// language's conventions for infinities, and whatever they get wrong is NaN.
template <int kRows, int kColumns, class Exact>
NK_DEVICE void replace_nan(float (&acc)[kRows][kColumns], const Exact& exact) {
    bool found = false;
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int j = 0; j < kColumns; ++j) found |= is_nan(acc[i][j]);
    if (!found) return;
#pragma unroll 1
    for (int at = 0; at < kRows * kColumns; ++at) {
        const float value = exact(at / kColumns, at % kColumns);
#pragma unroll
        for (int i = 0; i < kRows; ++i)
#pragma unroll
            for (int j = 0; j < kColumns; ++j)
                if (i * kColumns + j == at) acc[i][j] = value;
    }
}

/// A value and where it stands; a NaN comes first, then larger values, of equal ones lower
/// positions.
struct Ranked {
    float value;
    int index;
};
NK_DEVICE bool precedes(Ranked a, Ranked b) {
    if (is_nan(a.value) || is_nan(b.value))
        return is_nan(a.value) && (!is_nan(b.value) || a.index < b.index);
    return a.value > b.value || (a.value == b.value && a.index < b.index);
}
/// Takes in what stands behind all that was taken in before: of equal values the first stays, and
/// so does the first NaN.
NK_DEVICE void take_next(Ranked& best, float value, int index) {
    if (!(value <= best.value) && best.value == best.value) best = {value, index};
}
/// The same of integers, of which every one counts.
struct RankedInteger {
    i64 value;
    int index;
};
NK_DEVICE bool precedes(RankedInteger a, RankedInteger b) {
    return a.value > b.value || (a.value == b.value && a.index < b.index);
}

}  // namespace nk
