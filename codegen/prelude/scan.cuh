// Scans of rows in registers: every element becomes the fold of all up to it.
//
// The columns of a thread are vectors that lie a row's width of vectors apart: all threads' first
// vectors come before all second ones. So each vector is scanned by its thread, its lanes tell each
// other what is before them in the same turn of vectors, and what turns and warps come to is put
// before those that follow.
#pragma once

#include "rows.cuh"

namespace nk {

/// The fold of what the lanes before this one have, of kLanes neighbours, a power of two; `all` is
/// that of all of them.
template <class Combine, int kLanes>
NK_DEVICE float fold_before(float value, float& all) {
    const Combine combine;
    const int lane = lane_index();
#pragma unroll
    for (int distance = 1; distance < kLanes; distance *= 2) {
        const float other = shuffle(value, lane - distance);
        if (lane % kLanes >= distance) value = combine(other, value);
    }
    all = shuffle(value, lane | (kLanes - 1));
    const float before = shuffle(value, lane - 1);
    return lane % kLanes == 0 ? Combine::identity() : before;
}

/// Scans the vector that begins in column j of the thread; returns what the lanes before have.
template <class Combine, class Rows>
NK_DEVICE float scan_vector(Rows& rows, int i, int j, float& all) {
    constexpr int kLanes = Rows::lanes_per_row < 32 ? Rows::lanes_per_row : 32;
    const Combine combine;
#pragma unroll
    for (int k = j + 1; k < j + Rows::vector; ++k) rows(i, k) = combine(rows(i, k - 1), rows(i, k));
    return fold_before<Combine, kLanes>(rows(i, j + Rows::vector - 1), all);
}

/// Puts what is before a vector before each of its elements.
template <class Combine, class Rows>
NK_DEVICE void put_before(Rows& rows, int i, int j, float before) {
    const Combine combine;
#pragma unroll
    for (int k = j; k < j + Rows::vector; ++k) rows(i, k) = combine(before, rows(i, k));
}

/// Scans the thread's i-th row, which lanes of a warp share; `start` is before all of it.
template <class Combine, class Rows>
NK_DEVICE void scan_row(Rows& rows, int i, float start) {
    static_assert(Rows::lanes_per_row <= 32);
    const Combine combine;
#pragma unroll
    for (int j = 0; j < Rows::columns; j += Rows::vector) {
        float all = 0.0f;
        const float before = scan_vector<Combine>(rows, i, j, all);
        put_before<Combine>(rows, i, j, combine(start, before));
        start = combine(start, all);
    }
}

/// Replaces kParts values by the fold of those before each, `start` before all of them. A warp.
template <class Combine, int kParts>
NK_DEVICE void scan_parts(Shared<float> parts, int first, float start) {
    constexpr int kEach = (kParts + 31) / 32;
    const Combine combine;
    const int from = lane_index() * kEach;
    float before[kEach];
    float all = Combine::identity();
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        before[k] = all;
        if (from + k < kParts) all = combine(all, parts[first + from + k]);
    }
    start = combine(start, fold_before<Combine, 32>(all, all));
#pragma unroll
    for (int k = 0; k < kEach; ++k)
        if (from + k < kParts) parts[first + from + k] = combine(start, before[k]);
}

/// The same of a row that whole warps share. `scratch` has a place for every vector that a thread
/// has of a row, for every warp of the block, all of which come here.
template <class Combine, class Rows>
NK_DEVICE void scan_row(Rows& rows, int i, float start, Shared<float> scratch) {
    static_assert(Rows::lanes_per_row % 32 == 0);
    constexpr int kWarps = Rows::lanes_per_row / 32;
    constexpr int kVectors = Rows::columns / Rows::vector;
    const Combine combine;
    const int warp = warp_index() % kWarps;
    const int first = (warp_index() - warp) * kVectors;
    float before[kVectors];
    float all[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v)
        before[v] = scan_vector<Combine>(rows, i, v * Rows::vector, all[v]);
    block_barrier();
    if (lane_index() == 0)
#pragma unroll
        for (int v = 0; v < kVectors; ++v) scratch[first + v * kWarps + warp] = all[v];
    block_barrier();
    if (warp == 0) scan_parts<Combine, kVectors * kWarps>(scratch, first, start);
    block_barrier();
#pragma unroll
    for (int v = 0; v < kVectors; ++v)
        put_before<Combine>(rows, i, v * Rows::vector,
                            combine(scratch[first + v * kWarps + warp], before[v]));
}

}  // namespace nk
