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

}  // namespace nk
