// Element types and their conversions: to nearest, ties to even; e4m3 saturates, the other floating
// types overflow to infinity, integers round and saturate.
#pragma once

#include "target.cuh"

namespace nk {

struct bf16 {
    u16 bits;
};
struct f16 {
    u16 bits;
};
struct e4m3 {
    u8 bits;
};
struct e5m2 {
    u8 bits;
};
using i8 = signed char;

/// Rounds to a sign, `kExponent` exponent and `kFraction` fraction bits. NaN is the caller's.
template <int kExponent, int kFraction>
NK_DEVICE u32 round_small(float value) {
    constexpr int kBias = (1 << (kExponent - 1)) - 1;
    constexpr int kDropped = 23 - kFraction;
    const u32 magnitude = bits_of(value) & 0x7fffffffu;
    const u32 sign = bits_of(value) >> 31 << (kExponent + kFraction);
    if (magnitude < u32(127 + 1 - kBias) << 23) {
        // Below the least normal number: an integer count of the smallest one. Adding 1.5 * 2^23
        // rounds to an integer, ties to even.
        const float scaled = float_of(magnitude) * float_of(u32(127 + kBias - 1 + kFraction) << 23);
        return sign | (bits_of(scaled + 12582912.0f) & 0x3fffffu);
    }
    const u32 rounded = magnitude + ((1u << (kDropped - 1)) - 1) + (magnitude >> kDropped & 1);
    return sign | ((rounded >> kDropped) - (u32(127 - kBias) << kFraction));
}

NK_DEVICE bool is_nan(float value) {
    return (bits_of(value) & 0x7fffffffu) > 0x7f800000u;
}

NK_DEVICE float to_f32(float value) {
    return value;
}
NK_DEVICE float to_f32(bf16 value) {
    return float_of(u32(value.bits) << 16);
}
NK_DEVICE float to_f32(f16 value) {
#ifdef NK_IN_ONE_INSTRUCTION
    return widen_f16(value.bits);
#else
    const u32 magnitude = u32(value.bits & 0x7fffu) << 13;
    const u32 sign = u32(value.bits & 0x8000u) << 16;
    if (magnitude >= 0x7c00u << 13) return float_of(sign | magnitude | 0x7f800000u);
    return float_of(sign | bits_of(float_of(magnitude) * 0x1p112f));
#endif
}
NK_DEVICE float to_f32(e4m3 value) {
#ifdef NK_WIDENS_FP8
    return widen_f16(u16(widen_e4m3(value.bits)));
#else
    const u32 magnitude = u32(value.bits & 0x7fu) << 20;
    const u32 sign = u32(value.bits & 0x80u) << 24;
    if (magnitude == 0x7fu << 20) return float_of(sign | 0x7fc00000u);
    return float_of(sign | bits_of(float_of(magnitude) * 0x1p120f));
#endif
}
NK_DEVICE float to_f32(e5m2 value) {
    return to_f32(f16{u16(value.bits << 8)});
}
NK_DEVICE float to_f32(i8 value) {
    return float(value);
}
NK_DEVICE float to_f32(u8 value) {
    return float(value);
}
NK_DEVICE float to_f32(int value) {
    return float(value);
}
NK_DEVICE float to_f32(i64 value) {
    return float(value);
}
template <class T>
constexpr bool kIsBf16 = false;
template <>
constexpr bool kIsBf16<bf16> = true;
/// The j-th of the numbers of T in words; of two in a word, in one instruction.
template <class T, int kWords>
NK_DEVICE float part_of(const u32 (&words)[kWords], int j) {
    if constexpr (kIsBf16<T>) {
        return float_of(j % 2 == 0 ? words[j / 2] << 16 : words[j / 2] & 0xffff0000u);
    } else {
        T values[kWords * 4 / int(sizeof(T))];
        memcpy(values, words, sizeof values);
        return to_f32(values[j]);
    }
}

/// A value of type T from a real or an integer: `convert<bf16>(x)`.
template <class T>
struct Conversion;
template <>
struct Conversion<float> {
    static NK_DEVICE float of(float value) { return value; }
};
template <>
struct Conversion<bf16> {
    static NK_DEVICE bf16 of(float value) {
#ifdef NK_IN_ONE_INSTRUCTION
        return {round_to_bf16(value)};
#else
        const u32 bits = bits_of(value);
        if (is_nan(value)) return {u16(bits >> 16 | 0x40u)};
        return {u16((bits + 0x7fffu + (bits >> 16 & 1)) >> 16)};
#endif
    }
};
template <>
struct Conversion<f16> {
    static NK_DEVICE f16 of(float value) {
#ifdef NK_IN_ONE_INSTRUCTION
        return {round_to_f16(value)};
#else
        const u32 sign = bits_of(value) >> 31 << 15;
        if (is_nan(value)) return {u16(sign | 0x7e00u)};
        const bool large = (bits_of(value) & 0x7fffffffu) >= 0x477ff000u;  // 65504 + ulp/2
        return {u16(large ? (sign | 0x7c00u) : round_small<5, 10>(value))};
#endif
    }
};
template <>
struct Conversion<e4m3> {
    static NK_DEVICE e4m3 of(float value) {
#ifdef NK_WIDENS_FP8
        return {round_to_e4m3(value)};
#else
        const u32 sign = bits_of(value) >> 31 << 7;
        if (is_nan(value)) return {u8(sign | 0x7fu)};
        const bool large = (bits_of(value) & 0x7fffffffu) >= 0x43e00000u;  // 448
        return {u8(large ? (sign | 0x7eu) : round_small<4, 3>(value))};
#endif
    }
};
template <>
struct Conversion<e5m2> {
    static NK_DEVICE e5m2 of(float value) {
        const u32 sign = bits_of(value) >> 31 << 7;
        if (is_nan(value)) return {u8(sign | 0x7eu)};
        const bool large = (bits_of(value) & 0x7fffffffu) >= 0x47700000u;  // 61440 = 57344 + ulp/2
#ifdef NK_WIDENS_FP8
        return {u8(large ? (sign | 0x7cu) : round_to_e5m2(value))};
#else
        return {u8(large ? (sign | 0x7cu) : round_small<5, 2>(value))};
#endif
    }
};
/// Rounds to the nearest integer and saturates; NaN gives 0.
template <class T>
NK_DEVICE T saturate(float value, float least, float limit, T lowest, T highest) {
    if (is_nan(value)) return 0;
    if (value <= least) return lowest;
    return value >= limit ? highest : T(rintf(value));
}
NK_DEVICE i64 clamp(i64 value, i64 least, i64 most) {
    return value < least ? least : value > most ? most : value;
}
template <>
struct Conversion<i8> {
    static NK_DEVICE i8 of(float value) {
#ifdef NK_IN_ONE_INSTRUCTION
        const int whole = round_to_int(value);
        return i8(whole < -128 ? -128 : whole > 127 ? 127 : whole);
#else
        return i8(saturate<int>(value, -128.f, 127.f, -128, 127));
#endif
    }
    static NK_DEVICE i8 of(i64 value) {
        return i8(clamp(value, -128, 127));
    }
    static NK_DEVICE i8 of(int value) {
        return of(i64(value));
    }
    static NK_DEVICE i8 of(bool value) {
        return i8(value);
    }
};
template <>
struct Conversion<int> {
    static NK_DEVICE int of(float value) {
#ifdef NK_IN_ONE_INSTRUCTION
        return round_to_int(value);
#else
        return saturate<int>(value, -0x1p31f, 0x1p31f, -2147483647 - 1, 2147483647);
#endif
    }
    static NK_DEVICE int of(i64 value) {
        return int(clamp(value, -2147483647 - 1, 2147483647));
    }
    static NK_DEVICE int of(int value) {
        return value;
    }
    static NK_DEVICE int of(bool value) {
        return value ? 1 : 0;
    }
};
template <>
struct Conversion<i64> {
    static NK_DEVICE i64 of(float value) {
        return saturate<i64>(value, -0x1p63f, 0x1p63f, -9223372036854775807LL - 1,
                             9223372036854775807LL);
    }
    static NK_DEVICE i64 of(i64 value) { return value; }
    static NK_DEVICE i64 of(int value) { return value; }
    static NK_DEVICE i64 of(bool value) { return value ? 1 : 0; }
};
/// Booleans are stored as bytes.
template <>
struct Conversion<u8> {
    static NK_DEVICE u8 of(float value) { return value != 0 ? 1 : 0; }
    static NK_DEVICE u8 of(i64 value) { return value != 0 ? 1 : 0; }
    static NK_DEVICE u8 of(int value) { return value != 0 ? 1 : 0; }
    static NK_DEVICE u8 of(bool value) { return value ? 1 : 0; }
};
template <class T, class Value>
NK_DEVICE T convert(Value value) {
    return Conversion<T>::of(value);
}
/// A number of 4 bits, in a byte.
template <class Value>
NK_DEVICE i8 convert_i4(Value value) {
    return i8(clamp(convert<i8>(value), -8, 7));
}

/// The nearest number with 10 fraction bits.
NK_DEVICE float round_tf32(float value) {
    const u32 bits = bits_of(value);
    if ((bits & 0x7f800000u) == 0x7f800000u) return value;
    return float_of((bits + 0xfffu + (bits >> 13 & 1)) & ~0x1fffu);
}
/// The nearest value of type T, as a float.
template <class T>
NK_DEVICE float round_to(float value) {
    return to_f32(convert<T>(value));
}

/// Element `index` of an array of 4-bit integers, two a byte, the lower half first.
NK_DEVICE int signed_nibble(u8 pair, i64 index) {
    const int nibble = index % 2 == 0 ? pair & 15 : pair >> 4;
    return nibble < 8 ? nibble : nibble - 16;
}

}  // namespace nk
