// Two neighbouring numbers of 16 bits in a word, the first in its lower half: as the tensor core
// takes left operands. What one operation makes of two such words is rounded once, as it would be
// after the operation on f32.
#pragma once

#include "fragment.cuh"

namespace nk {

/// The words of a thread's two rows: of columns 2 t and 2 t + 1 of every eight, in lane t of four.
template <int kAcross>
struct Pairs {
    u32 at[kAcross][2];
    NK_DEVICE u32& operator()(int i, int p) { return at[p][i]; }
};

/// Of a tile in shared memory, from an even column on.
template <template <class, int, int> class Tiles, class T, int kRows, int kColumns>
NK_DEVICE u32 pair_of(Tiles<T, kRows, kColumns> tile, int row, int column) {
    static_assert(sizeof(T) == 2);
    check_element(tile.data, row, kRows, column, kColumns);
    return shared_word(tile.data, tile.place(row, column) * 2);
}
/// Of an array in device memory.
template <class T, class Place>
NK_DEVICE u32 pair_of(Global<const T> array, Place place) {
    const T first = array[place];
    const T second = array[place + 1];
    return first.bits | u32(second.bits) << 16;
}

/// From an even place on of an array in which words begin there.
template <class T>
NK_DEVICE u32 word_of(Global<const T> array, i64 place) {
    static_assert(sizeof(T) == 2);
    return device_word(array, place);
}

/// What eight integers of 4 bits, of a row of a tile of bytes from `column` on, are in.
template <template <class, int, int> class Tiles, class T, int kRows, int kBytes>
NK_DEVICE u32 nibble_word(Tiles<T, kRows, kBytes> tile, int row, int column) {
    u32 word[1];
    read_words(word, tile.data, tile.place(row, column / 2));
    return word[0];
}
/// 1, and the number whose last bit is worth one, with 8 beside it, twice each.
template <class T>
constexpr u32 kOnes = 0x3f803f80u;
template <>
constexpr u32 kOnes<f16> = 0x3c003c00u;
template <class T>
constexpr u32 kAboveNibbles = 0x43084308u;
template <>
constexpr u32 kAboveNibbles<f16> = 0x64086408u;
/// Which bytes of a word and of the same without its first four bits one of its four pairs is in.
NK_DEVICE u32 pair_selector(int pair) {
    return u32(pair) * 0x1111u + 0x4400u;
}
/// A pair of a word's integers as the last bits of numbers of T, from which `widened_pair` takes
/// the rest.
template <class T>
NK_DEVICE u32 nibbles_above(u32 word, u32 selector) {
    return masked_xor(select_bytes(word, word >> 4, selector), 0x000f000fu, kAboveNibbles<T>);
}
template <class T>
NK_DEVICE u32 widened_pair(u32 above) {
    return multiply_add_pair<T>(above, kOnes<T>, kAboveNibbles<T> | 0x80008000u);
}
/// A row of a tile of integers of 4 bits, for `widened_pair`: every lane of four takes a byte of
/// each word.
template <class T, int kAcross, template <class, int, int> class Tiles, class Byte, int kRows,
          int kBytes>
NK_DEVICE void read_nibbles(Pairs<kAcross>& pairs, int i, Tiles<Byte, kRows, kBytes> tile,
                            int row) {
    constexpr int kWords = kAcross % 4 == 0 ? 4 : 2;
    const u32 selector = pair_selector(lane_index() % 4);
#pragma unroll
    for (int p = 0; p < kAcross; p += kWords) {
        u32 words[kWords];
        read_words(words, tile.data, tile.place(row, 4 * p));
#pragma unroll
        for (int w = 0; w < kWords; ++w) pairs(i, p + w) = nibbles_above<T>(words[w], selector);
    }
}

}  // namespace nk
