// Matrices that a block computes together, in vectors of 16 bytes: what a thread computes at once
// are neighbours in memory, and so is what they are computed from.
#pragma once

#include "matrix.cuh"
#include "pairs.cuh"

namespace nk {

/// Neighbouring elements, widened.
template <int kCount>
struct Values {
    float at[kCount];
    NK_DEVICE float& operator[](int j) { return at[j]; }
    NK_DEVICE float operator[](int j) const { return at[j]; }
};

#ifdef NK_WIDENS_FP8
template <class T>
NK_DEVICE u32 widen_fp8(u16 pair);
template <>
NK_DEVICE u32 widen_fp8<e4m3>(u16 pair) {
    return widen_e4m3(pair);
}
template <>
NK_DEVICE u32 widen_fp8<e5m2>(u16 pair) {
    return widen_e5m2(pair);
}
template <class T>
constexpr bool kIsFp8 = false;
template <>
constexpr bool kIsFp8<e4m3> = true;
template <>
constexpr bool kIsFp8<e5m2> = true;
#endif

template <class T>
constexpr bool kIsByte = false;
template <>
constexpr bool kIsByte<i8> = true;

/// Elements of T in words of memory, as values from `first` on.
template <class T, int kCount, int kWords>
NK_DEVICE void widen(Values<kCount>& values, int first, const u32 (&words)[kWords]) {
#ifdef NK_WIDENS_FP8
    if constexpr (kIsFp8<T>) {
#pragma unroll
        for (int pair = 0; pair < 2 * kWords; ++pair) {
            const u32 both = widen_fp8<T>(u16(words[pair / 2] >> 16 * (pair % 2)));
            values[first + 2 * pair] = to_f32(f16{u16(both & 0xffffu)});
            values[first + 2 * pair + 1] = to_f32(f16{u16(both >> 16)});
        }
        return;
    }
#endif
    if constexpr (kIsByte<T>) {
#pragma unroll
        for (int j = 0; j < 4 * kWords; ++j) values[first + j] = widened_byte(words[j / 4], j % 4);
        return;
    }
#pragma unroll
    for (int j = 0; j < kWords * 4 / int(sizeof(T)); ++j) values[first + j] = part_of<T>(words, j);
}

/// kCount elements of a row of a tile from `column` on, a multiple of kCount.
template <int kCount, template <class, int, int> class Tiles, class T, int kRows, int kColumns>
NK_DEVICE Values<kCount> values_of(Tiles<T, kRows, kColumns> tile, int row, int column) {
    using Tile = Tiles<T, kRows, kColumns>;
    constexpr int kPart = kCount < Tile::unit ? kCount : Tile::unit;
    constexpr int kWords = kPart * int(sizeof(T)) / 4;
    Values<kCount> values;
    if constexpr (kWords == 0) {
#pragma unroll
        for (int j = 0; j < kCount; ++j) values[j] = to_f32(T(tile(row, column + j)));
    } else {
#pragma unroll
        for (int j = 0; j < kCount; j += kPart) {
            u32 words[kWords];
            read_words(words, tile.data, Tile::place(row, column + j) * int(sizeof(T)));
            widen<T>(values, j, words);
        }
    }
    return values;
}

/// kCount elements of device memory from `at` on, of which the first `valid` are there and the
/// others are zero. Vectors of kVector elements stand at multiples of their size.
template <int kCount, int kVector, class T>
NK_DEVICE Values<kCount> values_at(Global<const T> array, i64 at, int valid) {
    constexpr int kPart = kVector * int(sizeof(T)) > 16 ? 16 / int(sizeof(T)) : kVector;
    constexpr int kWords = kPart * int(sizeof(T)) / 4;
    Values<kCount> values;
    if (kWords == 0 || kPart > kCount || valid < kCount) {
#pragma unroll
        for (int j = 0; j < kCount; ++j)
            values[j] = j < valid ? to_f32(static_cast<T>(array[at + j])) : 0.0f;
        return values;
    }
#pragma unroll
    for (int j = 0; j < kCount; j += kPart) {
        u32 words[kWords == 0 ? 1 : kWords];
        read_vector(words, array, at + j, true);
        widen<T>(values, j, words);
    }
    return values;
}
/// Eight integers of 4 bits in a word, the lowest first, as values from `first` on: as fractions of
/// numbers whose last bit is worth one.
template <int kCount>
NK_DEVICE void widen_nibbles(Values<kCount>& values, int first, u32 word) {
#pragma unroll
    for (int k = 0; k < 8; ++k)
        values[first + k] = float_of((word >> 4 * k & 15u) ^ 0x4b000008u) - 8388616.0f;
}

/// kCount integers of 4 bits of a row of a tile of pairs, from `column` on, a multiple of eight.
template <int kCount, template <class, int, int> class Tiles, class T, int kRows, int kPairs>
NK_DEVICE Values<kCount> nibbles_of(Tiles<T, kRows, kPairs> tile, int row, int column) {
    static_assert(kCount % 8 == 0);
    Values<kCount> values;
#pragma unroll
    for (int j = 0; j < kCount; j += 8) {
        u32 word[1];
        read_words(word, tile.data, tile.place(row, (column + j) / 2));
        widen_nibbles(values, j, word[0]);
    }
    return values;
}
/// One of them.
template <template <class, int, int> class Tiles, class T, int kRows, int kPairs>
NK_DEVICE int nibble_of(Tiles<T, kRows, kPairs> tile, int row, int column) {
    return signed_nibble(u8(i8(tile(row, column / 2))), column);
}

/// As values_at, of 4-bit integers, two a byte; `at` counts integers. Vectors of kVector of them
/// stand at multiples of their size.
template <int kCount, int kVector>
NK_DEVICE Values<kCount> nibbles_at(Global<const u8> array, i64 at, int valid) {
    Values<kCount> values;
    if constexpr (kVector % 8 == 0 && kCount % 8 == 0) {
        if (valid >= kCount) {
#pragma unroll
            for (int j = 0; j < kCount; j += 8) {
                u32 word[1];
                read_vector(word, array, (at + j) / 2, true);
                widen_nibbles(values, j, word[0]);
            }
            return values;
        }
    }
#pragma unroll
    for (int j = 0; j < kCount; ++j)
        values[j] = j < valid ? float(signed_nibble(array[(at + j) / 2], at + j)) : 0.0f;
    return values;
}

/// Two or four values rounded to T, in a word.
template <class T, int kCount>
NK_DEVICE u32 packed(const Values<kCount>& values, int first) {
    if constexpr (sizeof(T) == 2)
        return pack<T>(values[first], values[first + 1]);
    else
        return bits_of(values[first]);
}

/// Computes a tile: element (row, column + j) is what value(row, column, values) leaves in
/// values[j], rounded to T. The given threads take neighbouring vectors; all of them take as many
/// steps.
template <template <class, int, int> class Tiles, class T, int kRows, int kColumns, class Value>
NK_DEVICE void publish(Tiles<T, kRows, kColumns> tile, int thread, int threads,
                       const Value& value) {
    using Tile = Tiles<T, kRows, kColumns>;
    constexpr int kVector = Tile::unit;
    const auto write = [&](int own, int base, int column, int bytes) {
        Values<kVector> values;
        value(own + base, column, values);
        u32 words[4];
#pragma unroll
        for (int w = 0; w < 4; ++w) words[w] = packed<T>(values, w * kVector / 4);
        write_words(tile.data, bytes, words);
    };
    share_vectors<kVector, Tile>(0, kRows, thread, threads, write, [] {});
}

/// As publish, where all that is done to integers of 4 bits is to widen them: word(row, column)
/// has eight.
template <template <class, int, int> class Tiles, class T, int kRows, int kColumns, class Word>
NK_DEVICE void publish_nibbles(Tiles<T, kRows, kColumns> tile, int thread, int threads,
                               const Word& word) {
    using Tile = Tiles<T, kRows, kColumns>;
    static_assert(Tile::unit == 8);
    const auto write = [&](int own, int base, int column, int bytes) {
        u32 nibbles;
        word(own + base, column, nibbles);
        u32 words[4];
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) words[pair] = widened_pair<T>(nibbles, pair);
        write_words(tile.data, bytes, words);
    };
    share_vectors<8, Tile>(0, kRows, thread, threads, write, [] {});
}

}  // namespace nk
