// Which chunks of an axis data lets a block leave out, and in which it has nothing to test.
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
    return {least_of_warp(ends.least), greatest_of_warp(ends.greatest)};
}

/// Where the first chunk of kSize after `start` starts in which a mask may let something through;
/// `end` or more where there is none. Each lane of a warp tries one of 32 that follow each other.
template <int kSize, class Visible>
NK_DEVICE int next_visible(int start, int end, Visible is_visible) {
    for (start += kSize; start < end; start += 32 * kSize) {
        const int own = start + lane_index() * kSize;
        const u32 visible = lanes_where(own < end && is_visible(own));
        if (visible != 0) return start + lowest_bit(visible) * kSize;
    }
    return start;
}

/// What a mark says of a chunk.
struct Mark {
    enum { Empty, Partial, Full };
};

/// Marks are read so many at once; behind the last one, up to a multiple of them, all are empty.
constexpr int kMarksAtOnce = 16;

/// Marks the first kMost chunks that start at `first`, `first + size` and so on before `end` with
/// what `mark_of` says of their start, which a warp finds together: of several at once, so that it
/// waits for their elements once. kWarps from `first_warp` on come here, and wait before they read
/// them.
template <int kMost, int kWarps, class T, class MarkOf>
NK_DEVICE void mark_chunks(Shared<T> marks, int first, int end, int size, int first_warp,
                           MarkOf mark_of) {
    constexpr int kAtOnce = 4;
    const int count = minimum(kMost, (end - first + size - 1) / size);
    const int warp = warp_index() - first_warp;
    for (int begin = warp; begin < count; begin += kWarps * kAtOnce) {
        int found[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i)
            found[i] = mark_of(first + minimum(begin + i * kWarps, count - 1) * size);
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i)
            if (lane_index() == 0 && begin + i * kWarps < count)
                marks[begin + i * kWarps] = static_cast<T>(found[i]);
    }
    const int marked = maximum(count, 0);
    if (warp == 0 && lane_index() < (kMarksAtOnce - marked % kMarksAtOnce) % kMarksAtOnce)
        marks[marked + lane_index()] = Mark::Empty;
}

/// Finds `count` ends, each by ends_at of its number, by a warp together: of several at once. All
/// kWarps of a block come here, and meet before they read what stands from `first` on.
template <int kWarps, class EndsAt>
NK_DEVICE void find_ends(Shared<int> found, int first, int count, EndsAt ends_at) {
    constexpr int kAtOnce = 4;
    for (int begin = warp_index(); begin < count; begin += kWarps * kAtOnce) {
        Ends ends[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) ends[i] = ends_at(minimum(begin + i * kWarps, count - 1));
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const int k = begin + i * kWarps;
            if (lane_index() > 0 || k >= count) continue;
            found[2 * (first + k)] = ends[i].least;
            found[2 * (first + k) + 1] = ends[i].greatest;
        }
    }
}
NK_DEVICE Ends found_ends(Shared<int> found, int k) {
    return {found[2 * k], found[2 * k + 1]};
}

/// As mark_chunks, where every lane knows by itself what there is to say of a chunk.
template <int kMost, int kWarps, class T, class MarkOf>
NK_DEVICE void mark_by_lanes(Shared<T> marks, int first, int end, int size, int first_warp,
                             MarkOf mark_of) {
    const int count = minimum(kMost, (end - first + size - 1) / size);
    const int padded = (count + kMarksAtOnce - 1) / kMarksAtOnce * kMarksAtOnce;
    for (int k = int(threadIdx.x) - 32 * first_warp; k < padded; k += 32 * kWarps)
        marks[k] = static_cast<T>(k < count ? int(mark_of(first + k * size)) : int(Mark::Empty));
}

/// Where the first chunk from `start` on that is not empty starts, or that has no place for a mark.
template <int kMost, class T>
NK_DEVICE int next_marked(Shared<T> marks, int first, int end, int size, int start) {
    static_assert(kMost % kMarksAtOnce == 0 && sizeof(T) == 1);
    int k = (start - first) / size;
    while (k < kMost && first + k * size < end) {
        const int group = k / kMarksAtOnce * kMarksAtOnce;
        u32 words[kMarksAtOnce / 4];
        read_words(words, marks, group);
#pragma unroll
        for (int i = 0; i < kMarksAtOnce / 4; ++i) {
            const int passed = minimum(maximum(k - group - 4 * i, 0), 4);  // marks before k
            const u32 left = passed == 4 ? 0 : words[i] >> 8 * passed << 8 * passed;
            if (left != 0) return first + (group + 4 * i + lowest_bit(left) / 8) * size;
        }
        k = group + kMarksAtOnce;
    }
    return first + k * size;
}
/// Whether the chunk that starts at `start` is marked as full.
template <int kMost, class T>
NK_DEVICE bool is_marked_full(Shared<T> marks, int first, int size, int start) {
    const int k = (start - first) / size;
    return k < kMost && marks[k] == Mark::Full;
}

}  // namespace nk
