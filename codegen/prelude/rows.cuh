// Rows of an array in the registers of a warp, for work that needs no tensor core.
#pragma once

#include "fragment.cuh"
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

/// Combines what the threads of a warp that hold the same columns have folded, `acc[j]` of column
/// j of a RowFragment; all get the result, with the same bits.
template <class Combine, class Columns>
NK_DEVICE void combine_columns(float (&acc)[Columns::columns]) {
    const Combine combine;
#pragma unroll
    for (int lane = Columns::lanes_per_row; lane < 32; lane *= 2)
#pragma unroll
        for (int j = 0; j < Columns::columns; ++j)
            acc[j] = combine(acc[j], shuffle_xor(acc[j], lane));
}

/// The same of the threads of a block, all of which come here. `scratch` has the columns of every
/// warp that shares them.
template <class Combine, class Columns, int kThreads>
NK_DEVICE void combine_columns(float (&acc)[Columns::columns], Shared<float> scratch) {
    constexpr int kLanes = Columns::lanes_per_row;
    constexpr int kOfRow = kLanes < 32 ? 1 : kLanes / 32;  // warps
    constexpr int kShare = kThreads / 32 / kOfRow;
    constexpr int kColumns = Columns::columns * kLanes;
    const Combine combine;
    combine_columns<Combine, Columns>(acc);
    block_barrier();
    if (kLanes >= 32 || lane_index() < kLanes)
#pragma unroll
        for (int j = 0; j < Columns::columns; ++j)
            scratch[warp_index() / kOfRow * kColumns + Columns::column(j)] = acc[j];
    block_barrier();
#pragma unroll
    for (int j = 0; j < Columns::columns; ++j) {
        acc[j] = scratch[Columns::column(j)];
#pragma unroll
        for (int other = 1; other < kShare; ++other)
            acc[j] = combine(acc[j], scratch[other * kColumns + Columns::column(j)]);
    }
}

/// Reads rows of several axes: the vector of kPart elements from (row, column) on is
/// piece_of(row, column), zero where none are there. A warp's rows begin at `first_row`.
template <int kPart, int kRows, int kVectors, int kVector, int kLanes, class T, class PieceOf>
NK_DEVICE void load_row_pieces(RowFragment<kRows, kVectors, kVector, kLanes>& fragment,
                               Global<const T> array, int first_row, const PieceOf& piece_of) {
    constexpr int kParts = kVectors * kVector / kPart;
    constexpr int kWords = kPart * int(sizeof(T)) / 4;
    if constexpr (kWords == 0) {
#pragma unroll
        for (int i = 0; i < kRows; ++i)
#pragma unroll
            for (int part = 0; part < kParts; ++part) {
                const Piece from =
                    piece_of(first_row + fragment.row(i), fragment.column(part * kPart));
#pragma unroll
                for (int k = 0; k < kPart; ++k)
                    fragment(i, part * kPart + k) =
                        k < from.count ? to_f32(static_cast<T>(array[from.at + k])) : 0.0F;
            }
    } else {
        // All reads before the first use.
        u32 words[kRows][kParts][kWords];
#pragma unroll
        for (int i = 0; i < kRows; ++i)
#pragma unroll
            for (int part = 0; part < kParts; ++part) {
                const Piece from =
                    piece_of(first_row + fragment.row(i), fragment.column(part * kPart));
                read_vector(words[i][part], array, from.at, from.count == kPart);
                if (from.count <= 0 || from.count == kPart) continue;
                T values[kPart] = {};
#pragma unroll
                for (int k = 0; k < kPart; ++k)
                    if (k < from.count) values[k] = array[from.at + k];
                memcpy(words[i][part], values, kPart * sizeof(T));
            }
#pragma unroll
        for (int i = 0; i < kRows; ++i)
#pragma unroll
            for (int part = 0; part < kParts; ++part) {
                T values[kPart];
                memcpy(values, words[i][part], kPart * sizeof(T));
#pragma unroll
                for (int k = 0; k < kPart; ++k) fragment(i, part * kPart + k) = to_f32(values[k]);
            }
    }
}

/// Writes them, rounded to T, as far as they are there.
template <int kPart, int kRows, int kVectors, int kVector, int kLanes, class T, class PieceOf>
NK_DEVICE void save_row_pieces(const RowFragment<kRows, kVectors, kVector, kLanes>& fragment,
                               Global<T> array, int first_row, const PieceOf& piece_of) {
    constexpr int kWords = kPart * int(sizeof(T)) / 4;
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int j = 0; j < kVectors * kVector; j += kPart) {
            const Piece to = piece_of(first_row + fragment.row(i), fragment.column(j));
            T values[kPart];
#pragma unroll
            for (int k = 0; k < kPart; ++k) values[k] = convert<T>(fragment(i, j + k));
            if constexpr (kWords > 0) {
                u32 words[kWords];
                memcpy(words, values, kPart * sizeof(T));
                write_vector(array, to.at, words, to.count == kPart);
                if (to.count == kPart) continue;
            }
#pragma unroll
            for (int k = 0; k < kPart; ++k)
                if (k < to.count) array[to.at + k] = values[k];
        }
}

}  // namespace nk
