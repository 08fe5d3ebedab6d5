// Rows of an array in the registers of a warp, for work that needs no tensor core.
#pragma once

#include "fragment.cuh"
#include "matrix.cuh"

namespace nk {

/// Rows that kLanes neighbouring threads share, a power of two, in vectors of kVector elements:
/// kRows rows of a thread, kVectors vectors of each. More than a warp's threads share one row after
/// the other.
template <int kRows, int kVectors, int kVector, int kLanes>
struct RowPlaces {
    static_assert(kLanes >= 1 && kLanes <= 1024 && (kLanes & (kLanes - 1)) == 0);
    static constexpr int rows = kRows;                  ///< of one thread
    static constexpr int columns = kVectors * kVector;  ///< of one thread
    static constexpr int vector = kVector;
    static constexpr int lanes_per_row = kLanes;  ///< neighbours

    static NK_DEVICE int row(int i) {
        if constexpr (kLanes >= 32) return i;
        return i * (32 / kLanes) + lane_index() / kLanes;
    }
    static NK_DEVICE int column(int j) {
        return (j / kVector * kLanes + threadIdx.x % kLanes) * kVector + j % kVector;
    }
};

/// Their elements as numbers that are computed with.
template <int kRows, int kVectors, int kVector, int kLanes>
struct RowFragment : RowPlaces<kRows, kVectors, kVector, kLanes> {
    float at[kRows][kVectors * kVector];

    NK_DEVICE float& operator()(int i, int j) { return at[i][j]; }
    NK_DEVICE float operator()(int i, int j) const { return at[i][j]; }
    NK_DEVICE void fill(float value) {
#pragma unroll
        for (int i = 0; i < kRows; ++i)
#pragma unroll
            for (int j = 0; j < kVectors * kVector; ++j) at[i][j] = value;
    }
    /// Takes words of T from column j on.
    template <class T, int kWords>
    NK_DEVICE void take(int i, int j, const u32 (&words)[kWords]) {
#pragma unroll
        for (int k = 0; k < kWords * 4 / int(sizeof(T)); ++k) at[i][j + k] = part_of<T>(words, k);
    }
    template <class T>
    NK_DEVICE void take(int i, int j, T value) {
        at[i][j] = to_f32(value);
    }
    /// Gives words of T, to which it rounds.
    template <class T, int kWords>
    NK_DEVICE void give(int i, int j, u32 (&words)[kWords]) const {
        T values[kWords * 4 / int(sizeof(T))];
#pragma unroll
        for (int k = 0; k < kWords * 4 / int(sizeof(T)); ++k) give(i, j + k, values[k]);
        memcpy(words, values, sizeof values);
    }
    template <class T>
    NK_DEVICE void give(int i, int j, T& value) const {
        value = convert<T>(at[i][j]);
    }
};

/// Their elements as numbers of 16 bits, two of a thread's in a register.
template <class T, int kRows, int kVectors, int kVector, int kLanes>
struct RowPairs : RowPlaces<kRows, kVectors, kVector, kLanes> {
    static_assert(sizeof(T) == 2);
    u32 pairs[kRows][(kVectors * kVector + 1) / 2];

    template <class, int kWords>
    NK_DEVICE void take(int i, int j, const u32 (&words)[kWords]) {
#pragma unroll
        for (int k = 0; k < kWords; ++k) pairs[i][j / 2 + k] = words[k];
    }
    NK_DEVICE void take(int i, int j, T value) {
        u32& pair = pairs[i][j / 2];
        const u32 bits = value.bits;
        pair = j % 2 == 0 ? bits : (pair & 0xffffu) | bits << 16;
    }
    template <class, int kWords>
    NK_DEVICE void give(int i, int j, u32 (&words)[kWords]) const {
#pragma unroll
        for (int k = 0; k < kWords; ++k) words[k] = pairs[i][j / 2 + k];
    }
    NK_DEVICE void give(int i, int j, T& value) const {
        value.bits = static_cast<unsigned short>(pairs[i][j / 2] >> 16 * (j % 2));
    }
};

/// As they were loaded.
template <class T, int kRows, int kVectors, int kVector, int kLanes>
struct LoadedRows : RowPairs<T, kRows, kVectors, kVector, kLanes> {
    NK_DEVICE float operator()(int i, int j) const {
        T value;
        this->give(i, j, value);
        return to_f32(value);
    }
};

/// Results, rounded as they are made, those of a row in its order.
template <class T, int kRows, int kVectors, int kVector, int kLanes>
struct RoundedRows : RowPairs<T, kRows, kVectors, kVector, kLanes> {
    struct Element {
        RoundedRows& rows;
        int i;
        int j;
        NK_DEVICE void operator=(float value) { rows.take(i, j, convert<T>(value)); }
    };
    NK_DEVICE Element operator()(int i, int j) { return {*this, i, j}; }
};

/// What was made of the rows is made again when it is asked for: the compiler would keep it, in
/// twice as many registers.
template <class T, int kRows, int kVectors, int kVector, int kLanes>
NK_DEVICE void make_again(LoadedRows<T, kRows, kVectors, kVector, kLanes>& rows) {
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (auto& pair : rows.pairs[i]) asm volatile("" : "+r"(pair));
}

/// What a thread reads or writes at once of its rows in an array of T.
template <class T, int kVector>
constexpr int kPartOf = kVector* int(sizeof(T)) > 16 ? 16 / int(sizeof(T)) : kVector;

/// Rows as they were loaded, in shared memory: of `rows`, which has room for those of kThreads
/// threads, every thread has vectors of its own, for which it waits for nobody else.
template <class T, int kRows, int kVectors, int kVector, int kLanes, int kThreads>
struct SharedRows : RowPlaces<kRows, kVectors, kVector, kLanes> {
    static constexpr int part = kPartOf<T, kVector>;
    static constexpr int bytes = part * int(sizeof(T));
    Shared<T> all;

    NK_DEVICE SharedRows(Shared<T> rows) : all(rows) {}
    /// Where the part of a vector that has column j of a row is, in bytes.
    static NK_DEVICE int place(int i, int j) {
        return ((i * kVectors * kVector + j) / part * kThreads + int(threadIdx.x)) * bytes;
    }
    NK_DEVICE float operator()(int i, int j) const {
        u32 words[bytes / 4];
        shared_words(words, all, place(i, j));
        return to_f32(part_of<T>(words, j % part));
    }
};

/// What lies in shared memory is read again.
template <class T, int kRows, int kVectors, int kVector, int kLanes, int kThreads>
NK_DEVICE void make_again(SharedRows<T, kRows, kVectors, kVector, kLanes, kThreads>&) {
    asm volatile("" ::: "memory");
}

/// Results that device memory gets as they are made, rounded to T, those of a row in its order:
/// Saver saves row i's vector from column j on with its last element.
template <class Saver, class T, int kRows, int kVectors, int kVector, int kLanes>
struct MadeRows : RowPlaces<kRows, kVectors, kVector, kLanes> {
    static constexpr int part = kPartOf<T, kVector>;
    T made[part];

    struct Element {
        Saver& all;
        int i;
        int j;
        NK_DEVICE void operator=(float value) {
            all.made[j % part] = convert<T>(value);
            if (j % part == part - 1) all.save(i, j - j % part);
        }
    };
    NK_DEVICE Element operator()(int i, int j) { return {static_cast<Saver&>(*this), i, j}; }
};

/// Element (row, column) is array[to + row * row_stride + column], and is saved where row < rows
/// and column < columns. Places of vectors are multiples of their size, of 16 bytes where they are
/// larger.
template <class T, int kRows, int kVectors, int kVector, int kLanes>
struct SavedRows : MadeRows<SavedRows<T, kRows, kVectors, kVector, kLanes>, T, kRows, kVectors,
                            kVector, kLanes> {
    Global<T> array;
    i64 to;
    i64 row_stride;
    int rows;
    int columns;

    NK_DEVICE SavedRows(Global<T> where, i64 from, i64 stride, int row_count, int column_count)
        : array(where), to(from), row_stride(stride), rows(row_count), columns(column_count) {}

    NK_DEVICE void save(int i, int j) {
        constexpr int part = SavedRows::part;
        const int row = this->row(i);
        const int column = this->column(j);
        const int valid = row < rows ? minimum(columns - column, part) : 0;
        const i64 at = to + row * row_stride + column;
        if (columns % part == 0) {
            u32 words[part * int(sizeof(T)) / 4];
            memcpy(words, this->made, sizeof this->made);
            return write_vector(array, at, words, valid > 0);
        }
#pragma unroll
        for (int k = 0; k < part; ++k)
            if (k < valid) array[at + k] = this->made[k];
    }
};

/// Reads a warp's rows from device memory: element (row, column) is
/// array[from + row * row_stride + column] where row < rows and column < columns, else 0.
/// Places of vectors are multiples of their size, of 16 bytes where they are larger.
template <class Rows, class T>
NK_DEVICE void load_rows(Rows& fragment, Global<const T> array, i64 from, i64 row_stride, int rows,
                         int columns) {
    constexpr int kPart = kPartOf<T, Rows::vector>;
    constexpr int kParts = Rows::columns / kPart;
    constexpr int kWords = kPart * int(sizeof(T)) / 4;
    const auto places = [&](auto&& visit) NK_INLINE {
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i)
#pragma unroll
            for (int part = 0; part < kParts; ++part) {
                const int row = fragment.row(i);
                const int column = fragment.column(part * kPart);
                visit(i, part, from + row * row_stride + column,
                      row < rows ? minimum(columns - column, kPart) : 0);
            }
    };
    if constexpr (kWords == 0) {
        places([&](int i, int part, i64 at, int valid) NK_INLINE {
#pragma unroll
            for (int k = 0; k < kPart; ++k)
                fragment.take(i, part * kPart + k, k < valid ? static_cast<T>(array[at + k]) : T{});
        });
        return;
    } else {
        // All reads before the first use.
        u32 words[Rows::rows][kParts][kWords];
        const bool whole = columns % kPart == 0;
        places([&](int i, int part, i64 at, int valid) NK_INLINE {
            read_vector(words[i][part], array, at, whole && valid > 0);
            if (whole) return;
            T values[kPart] = {};
#pragma unroll
            for (int k = 0; k < kPart; ++k)
                if (k < valid) values[k] = array[at + k];
            memcpy(words[i][part], values, sizeof values);
        });
        places([&](int i, int part, i64, int)
                   NK_INLINE { fragment.template take<T>(i, part * kPart, words[i][part]); });
    }
}

/// The same of rows in shared memory, all of which are there when it returns.
template <class T, int kRows, int kVectors, int kVector, int kLanes, int kThreads>
NK_DEVICE void load_rows(SharedRows<T, kRows, kVectors, kVector, kLanes, kThreads>& own,
                         Global<const T> array, i64 from, i64 row_stride, int rows, int columns) {
    constexpr int kPart = kPartOf<T, kVector>;
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int j = 0; j < kVectors * kVector; j += kPart) {
            const int row = own.row(i);
            const int column = own.column(j);
            const int valid = row < rows ? minimum(columns - column, kPart) : 0;
            start_copy<kPart>(own.all, own.place(i, j), array, from + row * row_stride + column,
                              maximum(valid, 0));
        }
    commit_copies();
    wait_copies<0>();
}

/// Writes a warp's rows to device memory, rounded to T, where row < rows and column < columns.
template <class Rows, class T>
NK_DEVICE void save_rows(const Rows& fragment, Global<T> array, i64 to, i64 row_stride, int rows,
                         int columns) {
    constexpr int kPart = kPartOf<T, Rows::vector>;
    constexpr int kWords = kPart * int(sizeof(T)) / 4;
    const auto places = [&](auto&& visit) NK_INLINE {
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i)
#pragma unroll
            for (int j = 0; j < Rows::columns; j += kPart) {
                const int row = fragment.row(i);
                const int column = fragment.column(j);
                visit(i, j, to + row * row_stride + column,
                      row < rows ? minimum(columns - column, kPart) : 0);
            }
    };
    const auto save_elements = [&](const T(&values)[kPart], i64 at, int valid) NK_INLINE {
#pragma unroll
        for (int k = 0; k < kPart; ++k)
            if (k < valid) array[at + k] = values[k];
    };
    places([&](int i, int j, i64 at, int valid) NK_INLINE {
        T values[kPart];
        if constexpr (kWords == 0) {
#pragma unroll
            for (int k = 0; k < kPart; ++k) fragment.give(i, j + k, values[k]);
            save_elements(values, at, valid);
        } else {
            u32 words[kWords];
            fragment.template give<T>(i, j, words);
            if (columns % kPart == 0) return write_vector(array, at, words, valid > 0);
            memcpy(values, words, sizeof values);
            save_elements(values, at, valid);
        }
    });
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
#pragma unroll
                for (int k = 0; k < kPart; ++k)
                    fragment(i, part * kPart + k) = part_of<T>(words[i][part], k);
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
