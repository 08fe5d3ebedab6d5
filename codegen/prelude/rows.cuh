// Rows of an array in the registers of a warp, for work that needs no tensor core.
#pragma once

#include "matrix.cuh"

namespace nk {

/// Rows that kLanes lanes share, a power of two, in vectors of kVector elements: kRows rows of a
/// thread, kVectors vectors of each.
template <int kRows, int kVectors, int kVector, int kLanes>
struct RowFragment {
    static_assert(kLanes >= 1 && kLanes <= 32 && (kLanes & (kLanes - 1)) == 0);
    static constexpr int rows = kRows;                  ///< of one thread
    static constexpr int columns = kVectors * kVector;  ///< of one thread
    static constexpr int lanes_per_row = kLanes;        ///< neighbours

    float at[kRows][kVectors * kVector];

    NK_DEVICE float& operator()(int i, int j) { return at[i][j]; }
    NK_DEVICE float operator()(int i, int j) const { return at[i][j]; }
    static NK_DEVICE int row(int i) { return i * (32 / kLanes) + lane_index() / kLanes; }
    static NK_DEVICE int column(int j) {
        return (j / kVector * kLanes + lane_index() % kLanes) * kVector + j % kVector;
    }
    NK_DEVICE void fill(float value) {
#pragma unroll
        for (int i = 0; i < rows; ++i)
#pragma unroll
            for (int j = 0; j < columns; ++j) at[i][j] = value;
    }
};

/// Reads a warp's rows from device memory: element (row, column) is
/// array[from + row * row_stride + column] where row < rows and column < columns, else `fill`.
/// Places of vectors are multiples of their size, of 16 bytes where they are larger.
template <int kRows, int kVectors, int kVector, int kLanes, class T>
NK_DEVICE void load_rows(RowFragment<kRows, kVectors, kVector, kLanes>& fragment,
                         Global<const T> array, i64 from, i64 row_stride, int rows, int columns,
                         float fill) {
    constexpr int kPart = kVector * int(sizeof(T)) > 16 ? 16 / int(sizeof(T)) : kVector;
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int j = 0; j < kVectors * kVector; j += kPart) {
            const int row = fragment.row(i);
            const int column = fragment.column(j);
            const i64 at = from + row * row_stride + column;
            const int left = row < rows ? columns - column : 0;
            if constexpr (kPart * sizeof(T) >= 4) {
                if (left >= kPart) {
                    u32 words[kPart * sizeof(T) / 4];
                    T values[kPart];
                    read_vector(words, array, at);
                    memcpy(values, words, sizeof values);
#pragma unroll
                    for (int k = 0; k < kPart; ++k) fragment(i, j + k) = to_f32(values[k]);
                    continue;
                }
            }
#pragma unroll
            for (int k = 0; k < kPart; ++k)
                fragment(i, j + k) = k < left ? to_f32(static_cast<T>(array[at + k])) : fill;
        }
}

/// Writes a warp's rows to device memory, rounded to T, where row < rows and column < columns.
template <int kRows, int kVectors, int kVector, int kLanes, class T>
NK_DEVICE void save_rows(const RowFragment<kRows, kVectors, kVector, kLanes>& fragment,
                         Global<T> array, i64 to, i64 row_stride, int rows, int columns) {
    constexpr int kPart = kVector * int(sizeof(T)) > 16 ? 16 / int(sizeof(T)) : kVector;
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int j = 0; j < kVectors * kVector; j += kPart) {
            const int row = fragment.row(i);
            const int column = fragment.column(j);
            const i64 at = to + row * row_stride + column;
            const int left = row < rows ? columns - column : 0;
            if constexpr (kPart * sizeof(T) >= 4) {
                if (left >= kPart) {
                    u32 words[kPart * sizeof(T) / 4];
                    T values[kPart];
#pragma unroll
                    for (int k = 0; k < kPart; ++k) values[k] = convert<T>(fragment(i, j + k));
                    memcpy(words, values, sizeof values);
                    write_vector(array, at, words);
                    continue;
                }
            }
#pragma unroll
            for (int k = 0; k < kPart; ++k)
                if (k < left) array[at + k] = convert<T>(fragment(i, j + k));
        }
}

}  // namespace nk
