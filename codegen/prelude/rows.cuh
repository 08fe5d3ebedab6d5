// Rows of an array in the registers of a warp, for work that needs no tensor core.
#pragma once

#include "matrix.cuh"

namespace nk {

/// Rows that kLanes neighbouring threads share, a power of two, in vectors of kVector elements:
/// kRows rows of a thread, kVectors vectors of each. More than a warp's threads share one row after
/// the other.
template <int kRows, int kVectors, int kVector, int kLanes>
struct RowFragment {
    static_assert(kLanes >= 1 && kLanes <= 1024 && (kLanes & (kLanes - 1)) == 0);
    static constexpr int rows = kRows;                  ///< of one thread
    static constexpr int columns = kVectors * kVector;  ///< of one thread
    static constexpr int lanes_per_row = kLanes;        ///< neighbours

    float at[kRows][kVectors * kVector];

    NK_DEVICE float& operator()(int i, int j) { return at[i][j]; }
    NK_DEVICE float operator()(int i, int j) const { return at[i][j]; }
    static NK_DEVICE int row(int i) {
        if constexpr (kLanes >= 32) return i;
        return i * (32 / kLanes) + lane_index() / kLanes;
    }
    static NK_DEVICE int column(int j) {
        return (j / kVector * kLanes + threadIdx.x % kLanes) * kVector + j % kVector;
    }
    NK_DEVICE void fill(float value) {
#pragma unroll
        for (int i = 0; i < rows; ++i)
#pragma unroll
            for (int j = 0; j < columns; ++j) at[i][j] = value;
    }
};

/// What a thread reads or writes at once of its rows in an array of T.
template <class T, int kVector>
constexpr int kPartOf = kVector* int(sizeof(T)) > 16 ? 16 / int(sizeof(T)) : kVector;

/// Reads a warp's rows from device memory: element (row, column) is
/// array[from + row * row_stride + column] where row < rows and column < columns, else `fill`.
/// Places of vectors are multiples of their size, of 16 bytes where they are larger.
template <int kRows, int kVectors, int kVector, int kLanes, class T>
NK_DEVICE void load_rows(RowFragment<kRows, kVectors, kVector, kLanes>& fragment,
                         Global<const T> array, i64 from, i64 row_stride, int rows, int columns,
                         float fill) {
    constexpr int kPart = kPartOf<T, kVector>;
    constexpr int kParts = kVectors * kVector / kPart;
    constexpr int kWords = kPart * int(sizeof(T)) / 4;
    if (kWords == 0 || columns % kPart != 0) {
#pragma unroll
        for (int i = 0; i < kRows; ++i)
#pragma unroll
            for (int j = 0; j < kVectors * kVector; ++j) {
                const int row = fragment.row(i);
                const int column = fragment.column(j);
                fragment(i, j) = fill;
                if (row < rows && column < columns)
                    fragment(i, j) =
                        to_f32(static_cast<T>(array[from + row * row_stride + column]));
            }
        return;
    }
    // All reads before the first use.
    u32 words[kRows][kParts][kWords == 0 ? 1 : kWords];
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int part = 0; part < kParts; ++part) {
            const int row = fragment.row(i);
            const int column = fragment.column(part * kPart);
            read_vector(words[i][part], array, from + row * row_stride + column,
                        row < rows && column < columns);
        }
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int part = 0; part < kParts; ++part) {
            const bool there = fragment.row(i) < rows && fragment.column(part * kPart) < columns;
            T values[kPart];
            memcpy(values, words[i][part], kPart * sizeof(T));
#pragma unroll
            for (int k = 0; k < kPart; ++k)
                fragment(i, part * kPart + k) = there ? to_f32(values[k]) : fill;
        }
}

/// Writes a warp's rows to device memory, rounded to T, where row < rows and column < columns.
template <int kRows, int kVectors, int kVector, int kLanes, class T>
NK_DEVICE void save_rows(const RowFragment<kRows, kVectors, kVector, kLanes>& fragment,
                         Global<T> array, i64 to, i64 row_stride, int rows, int columns) {
    constexpr int kPart = kPartOf<T, kVector>;
    constexpr int kWords = kPart * int(sizeof(T)) / 4;
    const bool whole = kWords != 0 && columns % kPart == 0;
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int j = 0; j < kVectors * kVector; j += kPart) {
            const int row = fragment.row(i);
            const int column = fragment.column(j);
            const i64 at = to + row * row_stride + column;
            T values[kPart];
#pragma unroll
            for (int k = 0; k < kPart; ++k) values[k] = convert<T>(fragment(i, j + k));
            if (whole) {
                u32 words[kWords == 0 ? 1 : kWords];
                memcpy(words, values, kPart * sizeof(T));
                write_vector(array, at, words, row < rows && column < columns);
            } else {
#pragma unroll
                for (int k = 0; k < kPart; ++k)
                    if (row < rows && column + k < columns) array[at + k] = values[k];
            }
        }
}

}  // namespace nk
