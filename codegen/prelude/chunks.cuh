// Which chunks of an axis data lets a block leave out.
#pragma once

#include "matrix.cuh"

namespace nk {

/// The least and the greatest of some integers.
struct Ends {
    int least;
    int greatest;
};

/// Of element(0) to element(count - 1), by a warp together.
template <class Element>
NK_DEVICE Ends ends_of(int count, Element element) {
    Ends ends{2147483647, -2147483647 - 1};
    for (int i = lane_index(); i < count; i += 32) {
        const int value = element(i);
        ends.least = minimum(ends.least, value);
        ends.greatest = maximum(ends.greatest, value);
    }
#pragma unroll
    for (int mask = 1; mask < 32; mask *= 2) {
        ends.least = minimum(ends.least, shuffle_xor(ends.least, mask));
        ends.greatest = maximum(ends.greatest, shuffle_xor(ends.greatest, mask));
    }
    return ends;
}

/// Marks the first kMost chunks that start at `first`, `first + size` and so on before `end`:
/// whether `seen` of their start, which a warp finds together. The block waits before it reads
/// them.
template <int kMost, int kWarps, class T, class Seen>
NK_DEVICE void mark_chunks(Shared<T> marks, int first, int end, int size, Seen seen) {
#pragma unroll 4
    for (int k = warp_index(); k < kMost; k += kWarps) {
        const int start = first + k * size;
        if (start >= end) break;
        const bool here = seen(start);
        if (lane_index() == 0) marks[k] = here;
    }
}

/// Where the first chunk from `start` on that is marked starts, or that has no place for a mark.
template <int kMost, class T>
NK_DEVICE int next_marked(Shared<T> marks, int first, int end, int size, int start) {
    int k = (start - first) / size;
    while (k < kMost && first + k * size < end && marks[k] == 0) ++k;
    return first + k * size;
}

}  // namespace nk
