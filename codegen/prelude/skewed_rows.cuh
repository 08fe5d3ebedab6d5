// A row that begins at no multiple of a vector: `skew` elements of its first vector stand before
// it, so that its column c is column c + skew of those vectors, and a thread's column j is
// column(j) - skew. All but the first vector and the last of a thread are whole, whatever the skew
// is.
#pragma once

#include "publish.cuh"
#include "rows.cuh"

namespace nk {

/// How many elements of its vector stand before an element.
template <int kVector>
NK_DEVICE int place_in_vector(i64 at) {
    return int(at & (kVector - 1));
}

/// Whether kPart of a thread's columns, from column j of Rows on, are the row's.
template <class Rows, int kPart = 1>
NK_DEVICE bool in_row(int j, int skew, int columns) {
    constexpr int kTogether = Rows::lanes_per_row * Rows::vector;
    const int column = Rows::column(j) - skew;
    const bool begins = j >= Rows::vector || column >= 0;
    const bool ends = (j / Rows::vector + 1) * kTogether <= columns || column + kPart <= columns;
    return begins && ends;
}

/// Numbers of an array that has one for each column of such a row, those of a thread's vector that
/// begins with its column j, array[at] there; 0 in place of others.
template <class Rows, class T>
NK_DEVICE Values<Rows::vector> values_in_row(Global<const T> array, i64 at, int j, int skew,
                                             int columns) {
    Values<Rows::vector> values;
#pragma unroll
    for (int k = 0; k < Rows::vector; ++k)
        values[k] =
            in_row<Rows>(j + k, skew, columns) ? to_f32(static_cast<T>(array[at + k])) : 0.0f;
    return values;
}

/// As SavedRows, of one such row: its element (0, column) is array[to + column], and `to - skew` is
/// a multiple of kVector.
template <class T, int kRows, int kVectors, int kVector, int kLanes>
struct SkewedRows : MadeRows<SkewedRows<T, kRows, kVectors, kVector, kLanes>, T, kRows, kVectors,
                             kVector, kLanes> {
    static_assert(kRows == 1);
    Global<T> array;
    i64 to;
    int skew;
    int columns;

    NK_DEVICE SkewedRows(Global<T> where, i64 from, int before, int count)
        : array(where), to(from), skew(before), columns(count) {}

    NK_DEVICE void save(int, int j) {
        constexpr int part = SkewedRows::part;
        const int column = this->column(j) - skew;
        if (in_row<SkewedRows, part>(j, skew, columns)) {
            u32 words[part * int(sizeof(T)) / 4];
            memcpy(words, this->made, sizeof this->made);
            return write_vector(array, to + column, words, true);
        }
#pragma unroll
        for (int k = 0; k < part; ++k)
            if (in_row<SkewedRows>(j + k, skew, columns)) array[to + column + k] = this->made[k];
    }
};

/// One row that begins at no multiple of a vector: element (0, column) is array[from + column], and
/// `from - skew` is a multiple of kVector.
template <class T, int kRows, int kVectors, int kVector, int kLanes, int kThreads>
NK_DEVICE void load_rows(SharedRows<T, kRows, kVectors, kVector, kLanes, kThreads>& own,
                         Global<const T> array, i64 from, int skew, int columns) {
    static_assert(kRows == 1);
    using Rows = RowPlaces<kRows, kVectors, kVector, kLanes>;
    constexpr int kPart = kPartOf<T, kVector>;
#pragma unroll
    for (int j = 0; j < kVectors * kVector; j += kPart) {
        const int column = own.column(j) - skew;
        if (in_row<Rows, kPart>(j, skew, columns)) {
            start_copy<kPart>(own.all, own.place(0, j), array, from + column, kPart);
            continue;
        }
        T values[kPart] = {};
#pragma unroll
        for (int k = 0; k < kPart; ++k)
            if (in_row<Rows>(j + k, skew, columns)) values[k] = array[from + column + k];
        u32 words[kPart * int(sizeof(T)) / 4];
        memcpy(words, values, sizeof values);
        write_words(own.all, own.place(0, j), words);
    }
    commit_copies();
    wait_copies<0>();
}

}  // namespace nk
