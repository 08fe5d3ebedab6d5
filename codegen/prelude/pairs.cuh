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
/// A pair of a word's integers, one of four, as numbers of T. Its byte is multiplied, not shifted,
/// to where it is wanted twice: selecting, masking and shifting have one unit, which binds.
template <class T>
NK_DEVICE u32 widened_pair(u32 word, int pair) {
    constexpr u32 kTwice = 1u | 1u << 12;
    const u32 byte = select_bytes(word, 0, u32(pair) | 0x4440u);
    const u32 above = masked_xor(byte * kTwice, 0x000f000fu, kAboveNibbles<T>);
    return multiply_add_pair<T>(above, kOnes<T>, kAboveNibbles<T> | 0x80008000u);
}
/// Of a word that all four lanes have, each its own pair.
template <class T>
NK_DEVICE u32 widened_pair(u32 word) {
    return widened_pair<T>(word, lane_index() % 4);
}
/// A row of a tile of integers of 4 bits, for `widened_pair`: a word for each pair of a thread, the
/// same for every lane of four.
template <int kAcross, template <class, int, int> class Tiles, class Byte, int kRows, int kBytes>
NK_DEVICE void read_nibbles(Pairs<kAcross>& pairs, int i, Tiles<Byte, kRows, kBytes> tile,
                            int row) {
    constexpr int kWords = kAcross % 4 == 0 ? 4 : 2;
#pragma unroll
    for (int p = 0; p < kAcross; p += kWords) {
        u32 words[kWords];
        read_words(words, tile.data, tile.place(row, 4 * p));
#pragma unroll
        for (int w = 0; w < kWords; ++w) pairs(i, p + w) = words[w];
    }
}

}  // namespace nk
