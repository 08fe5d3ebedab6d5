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
#include "control.cuh"

namespace nk {

NK_DEVICE int lane_index() {
    return threadIdx.x % 32;
}
NK_DEVICE int warp_index() {
    return threadIdx.x / 32;
}

/// The largest power of two that divides a count, at most 8.
NK_DEVICE constexpr int alignment_of(int count) {
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

/// A matrix that threads read down its columns, each as many rows as a unit has elements: one unit
/// of rows so far apart has no bank conflicts either.
template <class T, int kRows, int kColumns>
struct TurnedMatrix {
    using Element = T;
    using Straight = Matrix<T, kRows, kColumns>;
    static constexpr int rows = kRows;
    static constexpr int columns = kColumns;
    static constexpr int unit = Straight::unit;
    static constexpr int row_bytes = Straight::row_bytes;
    static constexpr int bytes = Straight::bytes;

    Shared<T> data;

    static NK_DEVICE int turn(int row) { return Straight::turn(row ^ row / unit); }
    static NK_DEVICE int place(int row, int column) {
        return row * kColumns + (turn(row) * unit ^ column);
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
template <class T, int kRows, int kColumns>
NK_DEVICE TurnedMatrix<T, kRows, kColumns> turned_matrix(unsigned char* memory, int offset,
                                                         const char* name) {
    return {shared_tile<T>(memory, offset, kRows * kColumns, name)};
}

/// An f32 operand of a product that is multiplied in two parts of tf32, a rounded one and what that
/// lacks.
struct f32_parts {
    float value;
};
template <int kRows, int kColumns>
NK_DEVICE Matrix<f32_parts, kRows, kColumns> in_parts(Matrix<float, kRows, kColumns> tile) {
    return {shared_as<f32_parts>(tile.data)};
}

// Tiles below are matrices, or panels (panels.cuh).

/// An element of two bytes, by the word that it shares with its neighbour: threads that read both
/// read it once.
template <template <class, int, int> class Tiles, class T, int kRows, int kColumns>
NK_DEVICE float element_of(Tiles<T, kRows, kColumns> tile, int row, int column) {
    static_assert(sizeof(T) == 2);
    check_element(tile.data, row, kRows, column, kColumns);
    const u32 word = shared_word(tile.data, tile.place(row, column / 2 * 2) * 2);
    return to_f32(T{u16(column % 2 == 0 ? word & 0xffffu : word >> 16)});
}

/// Likewise of an array in device memory: the first or the second of a word.
template <class T, class Place>
NK_DEVICE float element_of(Global<const T> array, Place place, int which) {
    static_assert(sizeof(T) == 2);
    const u32 word = device_word(array, place - which);
    return to_f32(T{u16(which == 0 ? word & 0xffffu : word >> 16)});
}
/// One of four integers of a byte in a word, as a fraction of a number whose last bit is worth one:
/// what converts integers takes four times as long.
NK_DEVICE float widened_byte(u32 word, int which) {
    return float_of(select_bytes(word ^ 0x80808080u, 0x4b000000u, 0x7440u + which)) - 8388736.0f;
}
/// And an element of that type.
template <template <class, int, int> class Tiles, int kRows, int kColumns>
NK_DEVICE float element_of(Tiles<i8, kRows, kColumns> tile, int row, int column) {
    check_element(tile.data, row, kRows, column, kColumns);
    return widened_byte(shared_word(tile.data, tile.place(row, column / 4 * 4)), column % 4);
}

/// Calls body(own, base, column, bytes) for this thread's share of the vectors of kVector elements
/// in rows [first, first + count) of a tile: row own + base, of which `base` is the same for all
/// threads, and where the vector is in the tile. Neighbouring threads take neighbouring vectors.
/// All threads take as many steps, kAtOnce of them side by side; with nothing to do they skip.
template <int kVector, class Tile, int kAtOnce = 32, class Body, class Skip>
NK_DEVICE void share_vectors(int first, int count, int thread, int threads, const Body& body,
                             const Skip& skip) {
    static_assert(Tile::columns % kVector == 0);
    constexpr int kAcross = Tile::columns / kVector;
    constexpr int kSize = int(sizeof(typename Tile::Element));
    assume(thread >= 0 && thread < threads);
    const int down = threads / kAcross;  // rows of a step
    if (down == 0) {
        constexpr int kBeside = kAtOnce < 4 ? kAtOnce : 4;
        const int steps = (count * kAcross + threads - 1) / threads;
#pragma unroll kBeside
        for (int step = 0; step < steps; ++step) {
            const u32 at = u32(thread + step * threads);
            const int row = int(at / kAcross);
            const int column = int(at % kAcross) * kVector;
            if (row < count)
                body(row, first, column, Tile::place(first + row, column) * kSize);
            else
                skip();
        }
        return;
    }
    // A thread stays in its column; where rows of a step are a power of two, the swizzle of a step
    // and that of a thread's row are of different bits.
    const int own = int(u32(thread) / kAcross);
    const int column = int(u32(thread) % kAcross) * kVector;
    const int start = own * Tile::row_bytes;
    const int inside = Tile::place(own, column) * kSize - start;
    const bool regular = (down & (down - 1)) == 0 && first % 8 == 0;
    const int steps = (count + down - 1) / down;
#pragma unroll kAtOnce
    for (int step = 0; step < steps; ++step) {
        const int base = first + step * down;
        const int bytes = regular
                              ? start + (inside ^ Tile::turn(base) * 16) + base * Tile::row_bytes
                              : Tile::place(own + base, column) * kSize;
        if ((threads % kAcross == 0 || own < down) &&
            (count % down == 0 || own + step * down < count))
            body(own, base, column, bytes);
        else
            skip();
    }
}

/// Whether every vector of kVector elements is inside the first `columns` of a row or outside.
template <int kVector>
NK_DEVICE bool whole_vectors(int columns, int all) {
    return columns >= all || columns % kVector == 0;
}

// Steps side by side where elements are copied alone, and where each has an address of its own.
constexpr int kElementsAtOnce = 4;
constexpr int kPiecesAtOnce = 8;

/// The given threads start to copy a tile from device memory: element (row, column) comes from
/// array[from + row * row_stride + column] where row < rows and column < columns, and is zero
/// elsewhere. Vectors of kVector elements, whose places in both memories are multiples of their
/// size; less than 4 bytes are copied at once.
template <int kVector, template <class, int, int> class Tiles, class T, int kRows, int kColumns>
NK_DEVICE void copy_async(Tiles<T, kRows, kColumns> tile, Global<const T> array, i64 from,
                          i64 row_stride, int rows, int columns, int thread, int threads) {
    using Tile = Tiles<T, kRows, kColumns>;
    const auto skip = [] { skip_copy(); };
    if constexpr (kVector * sizeof(T) < 4) {
        const auto copy = [&](int own, int base, int column, int bytes) {
            const i64 at = from + own * row_stride + column + base * row_stride;
            for (int i = 0; i < kVector; ++i) {
                T value{};
                if (own + base < rows && column + i < columns) value = array[at + i];
                tile.data[bytes / int(sizeof(T)) + i] = value;
            }
        };
        share_vectors<kVector, Tile, kElementsAtOnce>(0, kRows, thread, threads, copy, skip);
    } else if (whole_vectors<kVector>(columns, kColumns)) {
        const auto copy = [&](int own, int base, int column, int bytes) {
            const i64 at = from + own * row_stride + column + base * row_stride;
            start_copy<kVector>(tile.data, bytes, array, at, own + base < rows && column < columns);
        };
        share_vectors<kVector, Tile>(0, kRows, thread, threads, copy, skip);
    } else {
        const auto copy = [&](int own, int base, int column, int bytes) {
            const i64 at = from + own * row_stride + column + base * row_stride;
            const int left = own + base < rows ? minimum(columns - column, kVector) : 0;
            start_copy<kVector>(tile.data, bytes, array, at, maximum(left, 0));
        };
        share_vectors<kVector, Tile>(0, kRows, thread, threads, copy, skip);
    }
}

/// The given threads copy a tile whose rows begin anywhere, as copy_async says, of an array of
/// `size` elements: a vector is put together from the two at multiples of 16 bytes in which it is.
template <template <class, int, int> class Tiles, class T, int kRows, int kColumns>
NK_DEVICE void copy_shifted(Tiles<T, kRows, kColumns> tile, Global<const T> array, i64 size,
                            i64 from, i64 row_stride, int rows, int columns, int thread,
                            int threads) {
    using Tile = Tiles<T, kRows, kColumns>;
    constexpr int kVector = 16 / int(sizeof(T));
    constexpr int kAcross = Tile::columns / kVector;
    constexpr int kAtOnce = 4;
    const auto share = [&](auto whole) NK_INLINE {
        constexpr bool kWhole = decltype(whole)::value;
        const auto row_of = [&](int vector) { return vector / kAcross; };
        const auto column_of = [&](int vector) { return vector % kAcross * kVector; };
        const auto place_of = [&](int vector) {
            return from + row_of(vector) * row_stride + column_of(vector);
        };
        const auto valid_of = [&](int vector) {
            if (row_of(vector) >= rows) return 0;
            return kWhole ? kVector : maximum(minimum(columns - column_of(vector), kVector), 0);
        };
        const auto is_edge = [&](int vector) {
            return !kWhole && reaches_outside(array, size, place_of(vector), valid_of(vector));
        };
#pragma unroll 1
        for (int first = thread; first < kRows * kAcross; first += kAtOnce * threads) {
            Shifted<T> vectors[kAtOnce];
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
                const int vector = first + i * threads;
                vectors[i].load(array, place_of(vector), is_edge(vector) ? 0 : valid_of(vector));
            }
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
                const int vector = first + i * threads;
                if (row_of(vector) >= kRows) continue;
                u32 words[4];
                vectors[i].template put_together<kWhole>(words);
                const int to = Tile::place(row_of(vector), column_of(vector));
                write_words(tile.data, to * int(sizeof(T)), words);
                if (!is_edge(vector)) continue;
#pragma unroll 1
                for (int j = 0; j < valid_of(vector); ++j)
                    tile.data[to + j] = array[place_of(vector) + j];
            }
        }
    };
    const i64 end = from + (rows - 1) * row_stride + columns;
    if (columns >= kColumns && whole_words_inside(array, size, from, end))
        share(Flag<true>());
    else
        share(Flag<false>());
}

/// The same of a part of an array that may reach past its end, of which `rows_left` rows and
/// `columns_left` columns from the first are there: past them the last is repeated.
template <int kVector, template <class, int, int> class Tiles, class T, int kRows, int kColumns>
NK_DEVICE void copy_repeating(Tiles<T, kRows, kColumns> tile, Global<const T> array, i64 from,
                              i64 row_stride, int rows, int columns, int rows_left,
                              int columns_left, int thread, int threads) {
    using Tile = Tiles<T, kRows, kColumns>;
    if (rows <= rows_left && columns <= columns_left)
        return copy_async<kVector>(tile, array, from, row_stride, rows, columns, thread, threads);
    const auto copy = [&](int own, int base, int column, int bytes) {
        const int row = minimum(own + base, rows_left - 1);
        T value{};
        if (own + base < rows && column < columns)
            value = array[from + row * row_stride + minimum(column, columns_left - 1)];
        tile.data[bytes / int(sizeof(T))] = value;
    };
    share_vectors<1, Tile, kElementsAtOnce>(0, kRows, thread, threads, copy, [] { skip_copy(); });
}

/// A vector in device memory: where it begins, and how many of its elements are there.
struct Piece {
    i64 at;
    int count;
};
NK_DEVICE Piece piece(i64 at, int count) {
    return {at, count};
}

/// The given threads start to copy a tile that is gathered from device memory, in vectors of
/// kVector elements: that from (row, column) on is piece_of(row, column), zero where none are
/// there.
template <int kVector, template <class, int, int> class Tiles, class T, int kRows, int kColumns,
          class PieceOf>
NK_DEVICE void copy_pieces(Tiles<T, kRows, kColumns> tile, Global<const T> array, int thread,
                           int threads, const PieceOf& piece_of) {
    const auto copy = [&](int own, int base, int column, int bytes) {
        const Piece from = piece_of(own + base, column);
        if constexpr (kVector * sizeof(T) < 4) {
            for (int i = 0; i < kVector; ++i) {
                T value{};
                if (i < from.count) value = array[from.at + i];
                tile.data[bytes / int(sizeof(T)) + i] = value;
            }
        } else {
            start_copy<kVector>(tile.data, bytes, array, from.at, maximum(from.count, 0));
        }
    };
    share_vectors<kVector, Tiles<T, kRows, kColumns>, kPiecesAtOnce>(0, kRows, thread, threads,
                                                                     copy, [] { skip_copy(); });
}

/// The given threads write a tile to device memory, the vector from (row, column) on to
/// piece_of(row, column), as far as that is there.
template <int kVector, class T, int kRows, int kColumns, class PieceOf>
NK_DEVICE void save_pieces(Matrix<T, kRows, kColumns> tile, Global<T> array, int thread,
                           int threads, const PieceOf& piece_of) {
    using Tile = Matrix<T, kRows, kColumns>;
    constexpr int kBytes = kVector * int(sizeof(T));
    const auto save = [&](int own, int base, int column, int bytes) {
        const Piece to = piece_of(own + base, column);
        if constexpr (kBytes >= 4) {
            u32 words[kBytes / 4];
            read_words(words, tile.data, bytes);
            write_vector(array, to.at, words, to.count == kVector);
            if (to.count == kVector) return;
        }
        for (int i = 0; i < to.count; ++i) array[to.at + i] = tile(own + base, column + i);
    };
    share_vectors<kVector, Tile>(0, kRows, thread, threads, save, [] { skip_vector(); });
}

/// The given threads write rows [first_row, first_row + row_count) of a tile to device memory,
/// element (row, column) to array[to + row * row_stride + column], where row < rows and
/// column < columns. Vectors of kVector elements, whose places are multiples of their size.
template <int kVector, class T, int kRows, int kColumns>
NK_DEVICE void save_matrix(Matrix<T, kRows, kColumns> tile, int first_row, int row_count,
                           Global<T> array, i64 to, i64 row_stride, int rows, int columns,
                           int thread, int threads) {
    using Tile = Matrix<T, kRows, kColumns>;
    constexpr int kBytes = kVector * int(sizeof(T));
    constexpr int kWords = kBytes < 4 ? 1 : kBytes / 4;
    if (kBytes >= 4 && whole_vectors<kVector>(columns, kColumns)) {
        const auto save = [&](int own, int base, int column, int bytes) {
            const i64 at = to + own * row_stride + column + base * row_stride;
            u32 words[kWords];
            read_words(words, tile.data, bytes);
            write_vector(array, at, words, own + base < rows && column < columns);
        };
        share_vectors<kVector, Tile>(first_row, row_count, thread, threads, save,
                                     [] { skip_vector(); });
        return;
    }
#pragma unroll 1
    for (int at = thread; at < row_count * kColumns; at += threads) {
        const int row = first_row + at / kColumns;
        const int column = at % kColumns;
        const T value = tile(row, column);
        if (row < rows && column < columns) array[to + row * row_stride + column] = value;
    }
}

}  // namespace nk
