// Results that a warp saves by itself, through a little shared memory of its own.
#pragma once

#include "product.cuh"

namespace nk {

/// Writes a warp's results to device memory in whole vectors, as many columns at once as `slice`
/// has: element (row, column) to array[to + row * row_stride + column], where row < rows and
/// column < columns. What lies beside them is another warp's.
template <int kVector, class T, int kRows, int kColumns, int kDown, int kAcross>
NK_DEVICE void save_slices(const Fragment<kDown, kAcross>& results,
                           Matrix<T, kRows, kColumns> slice, Global<T> array, i64 to,
                           i64 row_stride, int rows, int columns) {
    constexpr int kParts = kColumns / 8;
    static_assert(kRows == 16 * kDown);
    if constexpr (kAcross % kParts != 0) columns = columns < 8 * kAcross ? columns : 8 * kAcross;
#pragma unroll
    for (int first = 0; first < kAcross; first += kParts) {
        Fragment<kDown, kParts> part;
#pragma unroll
        for (int i = 0; i < 2 * kDown; ++i)
#pragma unroll
            for (int j = 0; j < 2 * kParts; ++j)
                part(i, j) = 2 * first + j < 2 * kAcross ? results(i, 2 * first + j) : 0.0f;
        warp_barrier();
        store(part, slice, 0, 0);
        warp_barrier();
        save_matrix<kVector>(slice, 0, kRows, array, to + 8 * first, row_stride, rows,
                             columns - 8 * first, lane_index(), 32);
    }
}

/// A warp's results, rounded to the 16 bits that they are saved in, two neighbours in a word:
/// where a block takes several tiles they are saved a slice at a time while it computes the next.
template <class T, int kDown, int kAcross>
struct Held {
    static_assert(sizeof(T) == 2);
    u32 words[2 * kDown][kAcross];
    int saved = kAcross;  ///< of 8 columns; nothing is left of all
    i64 to = 0;
    int rows = 0;
    int columns = 0;
};

/// Keeps results until they are saved, where `save_slices` would put them.
template <class T, int kDown, int kAcross>
NK_DEVICE void hold(Held<T, kDown, kAcross>& held, const Fragment<kDown, kAcross>& results, i64 to,
                    int rows, int columns) {
#pragma unroll
    for (int i = 0; i < 2 * kDown; ++i)
#pragma unroll
        for (int j = 0; j < kAcross; ++j)
            held.words[i][j] = pack<T>(results(i, 2 * j), results(i, 2 * j + 1));
    held.saved = 0;
    held.to = to;
    held.rows = rows;
    held.columns = columns < 8 * kAcross ? columns : 8 * kAcross;
}

/// Saves as many columns of what is held as `slice` has, if any are left.
template <int kVector, class T, int kRows, int kColumns, int kDown, int kAcross>
NK_DEVICE void save_held(Held<T, kDown, kAcross>& held, Matrix<T, kRows, kColumns> slice,
                         Global<T> array, i64 row_stride) {
    using Tile = Matrix<T, kRows, kColumns>;
    constexpr int kParts = kColumns / 8;
    static_assert(kRows == 16 * kDown);
    if (held.saved >= kAcross) return;
    const int lane = lane_index();
    const Cursor<Tile, alignment_of(kParts)> place(lane / 4, 0, lane % 4 * 4);
    warp_barrier();
#pragma unroll
    for (int first = 0; first < kAcross; first += kParts) {
        if (held.saved != first) continue;
#pragma unroll
        for (int i = 0; i < 2 * kDown; ++i)
#pragma unroll
            for (int j = 0; j < kParts; ++j)
                write_words(slice.data, place(8 * i, j),
                            {first + j < kAcross ? held.words[i][first + j] : 0u});
    }
    warp_barrier();
    const int column = 8 * held.saved;
    save_matrix<kVector>(slice, 0, kRows, array, held.to + column, row_stride, held.rows,
                         held.columns - column, lane, 32);
    held.saved += kParts;
}

/// Saves what is left.
template <int kVector, class T, int kRows, int kColumns, int kDown, int kAcross>
NK_DEVICE void save_all_held(Held<T, kDown, kAcross>& held, Matrix<T, kRows, kColumns> slice,
                             Global<T> array, i64 row_stride) {
    while (held.saved < kAcross) save_held<kVector>(held, slice, array, row_stride);
}

}  // namespace nk
