// Tiles in shared memory that the tensor core reads, and copies between them and device memory.
//
// A tile is row-major without padding. The 16-byte units of a row are permuted by XOR with bits of
// the row's number, so that none of these has bank conflicts: eight rows at one unit (ldmatrix, and
// fragments being stored), and eight units one after the other (copies). How many bits depends on
// how the row's length divides the 128 bytes of all banks; rows of an odd number of units need
// none. With 4-byte elements the row's lowest bit moves whole pairs of units, since a fragment's
// row of eight elements is a pair.
#pragma once

#ifdef NAPKIN_EMULATED
#include "emulator/instructions.cuh"
#else
#include "instructions.cuh"
#endif
#include "arithmetic.cuh"

namespace nk {

NK_DEVICE int lane_index() {
    return threadIdx.x % 32;
}
NK_DEVICE int warp_index() {
    return threadIdx.x / 32;
}

/// The largest power of two that divides a count, at most 8.
constexpr int alignment_of(int count) {
    return count % 8 == 0 ? 8 : count % 4 == 0 ? 4 : count % 2 == 0 ? 2 : 1;
}

template <class T, int kRows, int kColumns>
struct Matrix {
    using Element = T;
    static constexpr int rows = kRows;
    static constexpr int columns = kColumns;
    static constexpr int unit = 16 / int(sizeof(T));  ///< elements of 16 bytes
    static constexpr int row_bytes = kColumns * int(sizeof(T));
    static constexpr int bytes = kRows * row_bytes;
    static constexpr int turns = alignment_of(row_bytes / 16);  ///< of its units, 1 for none
    static_assert(row_bytes % 16 == 0, "a row is whole units of 16 bytes");

    Shared<T> data;

    /// What the numbers of a row's units are XORed with.
    static NK_DEVICE int turn(int row) {
        if constexpr (turns == 1) return 0;
        const u32 bits = u32(row) / (8 / turns) % turns;
        return int(sizeof(T) == 4 && turns > 1 ? bits * 2 % turns + bits / (turns / 2) : bits);
    }
    /// Where an element is, in elements from the start.
    static NK_DEVICE int place(int row, int column) {
        const int which = int(u32(column) / unit) ^ turn(row);
        return row * kColumns + which * unit + int(u32(column) % unit);
    }
    NK_DEVICE decltype(auto) operator()(int row, int column) const {
        check_element(data, row, kRows, column, kColumns);
        return data[place(row, column)];
    }
};

/// The tile `offset` bytes from the start of shared memory, a multiple of 16.
template <class T, int kRows, int kColumns>
NK_DEVICE Matrix<T, kRows, kColumns> shared_matrix(unsigned char* memory, int offset,
                                                   const char* name) {
    return {shared_tile<T>(memory, offset, kRows * kColumns, name)};
}

/// Calls body(row, column) for this thread's share of the vectors of kVector elements in rows
/// [first, first + count) of a tile, neighbouring threads taking neighbouring vectors; all threads
/// make as many steps, and where `row` is not less than first + count there is nothing to do.
template <int kVector, int kColumns, class Body>
NK_DEVICE void share_vectors(int first, int count, int thread, int threads, const Body& body) {
    static_assert(kColumns % kVector == 0);
    constexpr int kAcross = kColumns / kVector;
    const int steps = (count * kAcross + threads - 1) / threads;
    if (threads % kAcross == 0) {
        // A thread stays in its column.
        const int row = first + int(u32(thread) / kAcross);
        const int column = int(u32(thread) % kAcross) * kVector;
#pragma unroll
        for (int step = 0; step < steps; ++step) body(row + step * (threads / kAcross), column);
    } else {
#pragma unroll
        for (int step = 0; step < steps; ++step) {
            const u32 at = u32(thread + step * threads);
            body(first + int(at / kAcross), int(at % kAcross) * kVector);
        }
    }
}

/// The given threads start to copy a tile from device memory: element (row, column) comes from
/// array[from + row * row_stride + column] where row < rows and column < columns, and is zero
/// elsewhere. Vectors of kVector elements, whose places in both memories are multiples of their
/// size; less than 4 bytes are copied at once.
template <int kVector, class T, int kRows, int kColumns>
NK_DEVICE void copy_async(Matrix<T, kRows, kColumns> tile, Global<const T> array, i64 from,
                          i64 row_stride, int rows, int columns, int thread, int threads) {
    constexpr int kBytes = kVector * int(sizeof(T));
    share_vectors<kVector, kColumns>(0, kRows, thread, threads, [&](int row, int column) {
        if (row >= kRows) return skip_copy();
        const int place = tile.place(row, column);
        const i64 at = from + row * row_stride + column;
        if constexpr (kBytes >= 4) {
            const int left = row < rows ? minimum(columns - column, kVector) : 0;
            start_copy<kVector>(tile.data, place * int(sizeof(T)), array, at, maximum(left, 0));
        } else {
            static_assert(kVector == 1, "copies of less than 4 bytes are of single elements");
            T value{};
            if (row < rows && column < columns) value = array[at];
            tile.data[place] = value;
        }
    });
}

/// The given threads write rows [first_row, first_row + row_count) of a tile to device memory,
/// element (row, column) to array[to + row * row_stride + column], where row < rows and
/// column < columns. Vectors of kVector elements, whose places are multiples of their size.
template <int kVector, class T, int kRows, int kColumns>
NK_DEVICE void save_matrix(Matrix<T, kRows, kColumns> tile, int first_row, int row_count,
                           Global<T> array, i64 to, i64 row_stride, int rows, int columns,
                           int thread, int threads) {
    constexpr int kBytes = kVector * int(sizeof(T));
    const int end = minimum(first_row + row_count, rows);
    share_vectors<kVector, kColumns>(
        first_row, row_count, thread, threads, [&](int row, int column) {
            if (row >= end || column >= columns) return skip_vector();
            const i64 at = to + row * row_stride + column;
            if constexpr (kBytes >= 4) {
                if (column + kVector <= columns) {
                    u32 words[kBytes / 4];
                    read_words(words, tile.data, tile.place(row, column) * int(sizeof(T)));
                    return write_vector(array, at, words);
                }
            }
            skip_vector();
            for (int i = 0; i < kVector && column + i < columns; ++i)
                array[at + i] = static_cast<T>(tile(row, column + i));
        });
}

}  // namespace nk
