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

}  // namespace nk
