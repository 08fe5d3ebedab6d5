// Tiles in shared memory for products of warp groups, rings of them that one agent fills for
// others, and those products.
//
// A tile is panels side by side, each of all its rows and of as many columns as fill 128 bytes, or
// 64 or 32 where the columns are no multiple. Inside a panel the 16-byte units of a row are
// permuted as in a Matrix of its width, which is what bulk copies write and products read.
#pragma once

#ifdef NAPKIN_EMULATED
#include "emulator/hopper.cuh"
#else
#include "hopper.cuh"
#endif
#include "product.cuh"

namespace nk {

template <class T, int kRows, int kColumns>
struct Panels {
    using Element = T;
    static constexpr int rows = kRows;
    static constexpr int columns = kColumns;
    static constexpr int unit = 16 / int(sizeof(T));  ///< elements of 16 bytes
    static constexpr int swizzle = alignment_of(kColumns * int(sizeof(T)) / 16) * 16;  ///< bytes
    static constexpr int width = swizzle / int(sizeof(T));  ///< columns of a panel
    static constexpr int row_bytes = swizzle;               ///< from a row of a panel to the next
    static constexpr int panel_bytes = kRows * swizzle;
    static constexpr int bytes = kRows * kColumns * int(sizeof(T));
    using Panel = Matrix<T, kRows, width>;
    static_assert(swizzle >= 32, "columns fill panels of at least 32 bytes");
    static_assert(kRows % 8 == 0, "units are permuted over eight rows");

    Shared<T> data;

    static NK_DEVICE int turn(int row) { return Panel::turn(row); }
    /// Where an element is, in elements from the start.
    static NK_DEVICE int place(int row, int column) {
        return column / width * (kRows * width) + Panel::place(row, column % width);
    }
    NK_DEVICE decltype(auto) operator()(int row, int column) const {
        check_element(data, row, kRows, column, kColumns);
        return data[place(row, column)];
    }
};

/// The tile `offset` bytes from the start of shared memory, a multiple of 1024.
template <class T, int kRows, int kColumns>
NK_DEVICE Panels<T, kRows, kColumns> shared_panels(unsigned char* memory, int offset,
                                                   const char* name) {
    return {shared_tile<T>(memory, offset, kRows * kColumns, name)};
}

/// The barriers of a ring of kStages contents, of which the n-th is in slot n % kStages: whether it
/// is filled, and whether its users are through with it. Contents are counted through the kernel.
template <int kStages>
struct Ring {
    Shared<u64> barriers;

    /// One thread starts it, for so many arrivals of those who fill and of those who use it.
    NK_DEVICE void start(int fillers, int users) const {
        for (int slot = 0; slot < kStages; ++slot) {
            start_barrier(barriers, slot, fillers);
            start_barrier(barriers, kStages + slot, users);
        }
    }
    NK_DEVICE static int slot(int n) { return n % kStages; }
    NK_DEVICE void wait_filled(int n) const {
        wait_barrier(barriers, n % kStages, n / kStages & 1);
    }
    /// The first kStages contents find their slots free.
    NK_DEVICE void wait_free(int n) const {
        wait_barrier(barriers, kStages + n % kStages, (n / kStages & 1) ^ 1);
    }
    /// One thread begins to fill content n with bulk copies of so many bytes.
    NK_DEVICE void fill(int n, int bytes) const {
        wait_free(n);
        arrive_expecting(barriers, slot(n), bytes);
    }
    /// Whether wait_free would return at once.
    NK_DEVICE bool is_free(int n) const {
        return test_barrier(barriers, kStages + n % kStages, (n / kStages & 1) ^ 1);
    }
    /// A warp is through with content n.
    NK_DEVICE void release(int n) const {
        warp_barrier();
        if (lane_index() == 0) arrive(barriers, kStages + n % kStages);
    }
};
template <int kStages>
NK_DEVICE Ring<kStages> shared_ring(unsigned char* memory, int offset, const char* name) {
    return {shared_tile<u64>(memory, offset, 2 * kStages, name)};
}

/// Of a thread that fills rings itself: the content whose copies are on their way, while it starts
/// those of the next.
struct Copied {
    Shared<u64> barriers = {};
    int slot = -1;  ///< none where negative

    /// The copies that this thread has started since, and what it wrote itself, are content n.
    template <int kStages>
    NK_DEVICE void add(const Ring<kStages>& ring, int n) {
        commit_copies();
        if (slot >= 0) {
            wait_copies<1>();
            fence_async();
            arrive(barriers, slot);
        }
        barriers = ring.barriers;
        slot = ring.slot(n);
    }
    /// Waits for the copies and says so.
    NK_DEVICE void finish() {
        if (slot < 0) return;
        wait_copies<0>();
        fence_async();
        arrive(barriers, slot);
        slot = -1;
    }
    /// As the ring's own. Who is to free the slot may be waiting for what has been copied.
    template <int kStages>
    NK_DEVICE void wait_free(const Ring<kStages>& ring, int n) {
        if (!ring.is_free(n)) finish();
        ring.wait_free(n);
    }
};

/// A named barrier of warps of which one thread may have done more than the others.
NK_DEVICE void parted_barrier(int number, int threads) {
    warp_barrier();
    named_barrier(number, threads);
}

/// Warp groups that start products one after another: each has a named barrier at which it waits
/// for the one before, behind those of all that compute and of the one that copies.
inline constexpr int kFirstTurn = 3;
NK_DEVICE int group_index() {
    return warp_index() / 4;
}
NK_DEVICE void take_turn() {
    named_barrier(kFirstTurn + group_index(), 256);
}
template <int kGroups>
NK_DEVICE void pass_turn() {
    arrive_named(kFirstTurn + (group_index() + 1) % kGroups, 256);
}
/// The first turn is the first group's, and what the last one hands on at the end is its too.
template <int kGroups>
NK_DEVICE void begin_turns() {
    if (group_index() == kGroups - 1) pass_turn<kGroups>();
}
NK_DEVICE void end_turns() {
    if (group_index() == 0) take_turn();
}

/// Where one thread lists chunks for the computing warps, and whether all of their tests are known
/// to hold: as a ring of numbers.
template <int kStages>
struct ChunkList {
    Ring<kStages> ring;
    Shared<int> chunks;

    NK_DEVICE void start(int users) const { ring.start(1, users); }
    NK_DEVICE void put(int n, int chunk, bool whole) const {
        ring.wait_free(n);
        chunks[n % kStages] = whole ? chunk : ~chunk;
        arrive(ring.barriers, ring.slot(n));
    }
    /// By a warp, which says in `whole` whether there is nothing to test.
    NK_DEVICE int take(int n, bool& whole) const {
        ring.wait_filled(n);
        const int listed = chunks[n % kStages];
        ring.release(n);
        whole = listed >= 0;
        return whole ? listed : ~listed;
    }
};
template <int kStages>
NK_DEVICE ChunkList<kStages> shared_list(unsigned char* memory, int offset, const char* name) {
    return {shared_ring<kStages>(memory, offset, name),
            shared_tile<int>(memory, offset + 16 * kStages, kStages, name)};
}

/// Starts the bulk copies of a tile, a panel each, from `at` of the array on, the contiguous
/// dimension first: a part of content n of a ring.
template <int kRank, class T, int kRows, int kColumns, int kStages>
NK_DEVICE void load_panels(Panels<T, kRows, kColumns> tile, const TensorMap& map,
                           const int (&at)[kRank], Ring<kStages> ring, int n) {
    using Tile = Panels<T, kRows, kColumns>;
#pragma unroll
    for (int panel = 0; panel < kColumns / Tile::width; ++panel) {
        int from[kRank];
        for (int d = 0; d < kRank; ++d) from[d] = at[d];
        from[0] += panel * Tile::width;
        start_bulk_load(tile.data, panel * Tile::panel_bytes, map, from, ring.barriers,
                        ring.slot(n));
    }
}

/// Starts the bulk copy of a vector from `at` of the array on, the contiguous dimension first: a
/// part of content n of a ring.
template <int kRank, class T, int kStages>
NK_DEVICE void load_vector(Shared<T> vector, const TensorMap& map, const int (&at)[kRank],
                           Ring<kStages> ring, int n) {
    start_bulk_load(vector, 0, map, at, ring.barriers, ring.slot(n));
}

/// Where a box begins in its array, the contiguous dimension first.
template <int kRank>
struct Place {
    int at[kRank];
};
template <class... Indices>
NK_DEVICE Place<int(sizeof...(Indices))> place_at(Indices... indices) {
    return {{int(indices)...}};
}
/// Starts the bulk copies of a tile, a panel each: that of the columns from `column` on begins at
/// place_of(column).
template <class T, int kRows, int kColumns, int kStages, class PlaceOf>
NK_DEVICE void load_gathered(Panels<T, kRows, kColumns> tile, const TensorMap& map,
                             Ring<kStages> ring, int n, const PlaceOf& place_of) {
    using Tile = Panels<T, kRows, kColumns>;
#pragma unroll
    for (int column = 0; column < kColumns; column += Tile::width)
        start_bulk_load(tile.data, column / Tile::width * Tile::panel_bytes, map,
                        place_of(column).at, ring.barriers, ring.slot(n));
}

/// The first row of this warp's group, where so many groups share the columns of a row.
template <int kAcross = 1>
NK_DEVICE int group_row() {
    return shuffle(int(threadIdx.x) / kGroup / kAcross, 0) * 64;
}
/// Which of them this warp's group is.
template <int kAcross>
NK_DEVICE int group_across() {
    return shuffle(int(threadIdx.x) / kGroup % kAcross, 0);
}

/// Where a product's operands lie, step after step along k.
template <Order kOrder, bool kLeft, class Tile>
struct GroupOperand {
    /// Whether k runs along the stored rows.
    static constexpr bool kAlongRows = kLeft == (kOrder == Order::AsStored);
    u64 first;

    /// From `start` on, of the operand's rows or columns.
    NK_DEVICE GroupOperand(Tile tile, int start)
        : first(operand_at<Tile::swizzle>(
              tile.data,
              kAlongRows ? start * Tile::row_bytes : start / Tile::width * Tile::panel_bytes,
              kAlongRows ? 16 : Tile::panel_bytes, 8 * Tile::row_bytes)) {}
    NK_DEVICE u64 at(int step) const {
        constexpr int kSteps = Tile::swizzle / 32;  // of a panel's width
        return further(first, kAlongRows ? step / kSteps * Tile::panel_bytes + step % kSteps * 32
                                         : step * 16 * Tile::row_bytes);
    }
};

/// A left operand whose registers no product reads yet.
template <class T, int kSteps>
NK_DEVICE LeftOperand<T, 1, kSteps> moved(const LeftOperand<T, 1, kSteps>& from) {
    LeftOperand<T, 1, kSteps> to;
#pragma unroll
    for (int k = 0; k < kSteps; ++k)
#pragma unroll
        for (int e = 0; e < 4; ++e) to.at[0][k][e] = moved(from.at[0][k][e]);
    return to;
}

/// Starts acc += left right over the first kDepth of k, both from shared memory, by a warp group;
/// acc begins at zero unless `add`. Its rows of the left operand start at `row`, results at
/// `column` of the right one. What is started is waited for as one group.
template <Order kLeft, Order kRight, int kDepth, class T, int kAcross, int kLeftRows,
          int kLeftColumns, int kRightRows, int kRightColumns>
NK_DEVICE void start_multiply(Fragment<1, kAcross>& acc, Panels<T, kLeftRows, kLeftColumns> left,
                              int row, Panels<T, kRightRows, kRightColumns> right, int column,
                              bool add) {
    const GroupOperand<kLeft, true, Panels<T, kLeftRows, kLeftColumns>> a(left, row);
    const GroupOperand<kRight, false, Panels<T, kRightRows, kRightColumns>> b(right, column);
    fence_products();
#pragma unroll
    for (int step = 0; step < kDepth / kStepOf<T>; ++step)
        start_product<T, !a.kAlongRows, !b.kAlongRows>(acc.at[0], a.at(step), b.at(step),
                                                       add || step > 0);
    commit_products();
}
/// The same for left operands in registers, which must stay as they are until it is through.
template <Order kRight, class T, int kAcross, int kSteps, int kRows, int kColumns>
NK_DEVICE void start_multiply(Fragment<1, kAcross>& acc, const LeftOperand<T, 1, kSteps>& left,
                              Panels<T, kRows, kColumns> right, int column, bool add) {
    const GroupOperand<kRight, false, Panels<T, kRows, kColumns>> b(right, column);
    fence_products();
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
        start_product<T, !b.kAlongRows>(acc.at[0], left.at[0][step], b.at(step), add || step > 0);
    commit_products();
}
/// Stores a warp's results in a tile, rounded to T, the first at (row, column), which are multiples
/// of 8.
template <class T, int kRows, int kColumns, int kAcross>
NK_DEVICE void store(const Fragment<1, kAcross>& results, Panels<T, kRows, kColumns> tile, int row,
                     int column) {
    static_assert(sizeof(T) == 2);
    using Tile = Panels<T, kRows, kColumns>;
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < kAcross; ++j)
            write_words(tile.data,
                        Tile::place(row + results.row(i), column + results.column(2 * j)) * 2,
                        {pack<T>(results(i, 2 * j), results(i, 2 * j + 1))});
}
/// So many products of numbers of 8 bits are summed by the tensor core, which keeps 13 bits of
/// fraction of every sum.
inline constexpr int kNarrowDepth = 128;

/// Adds left right over the first kDepth of k to acc, both of 8 bits and from shared memory, in
/// parts of kNarrowDepth that are added up in f32; acc begins at zero unless `add`. It is through
/// when it returns.
template <int kDepth, class Left, class Right, int kAcross, int kLeftRows, int kRightRows,
          int kLeftColumns, int kRightColumns>
NK_DEVICE void multiply_narrow(Fragment<1, kAcross>& acc,
                               Panels<Left, kLeftRows, kLeftColumns> left, int row,
                               Panels<Right, kRightRows, kRightColumns> right, int column,
                               bool add) {
    static_assert(sizeof(Left) == 1 && sizeof(Right) == 1 && kDepth % kStepOf<Left> == 0);
    const GroupOperand<Order::AsStored, true, Panels<Left, kLeftRows, kLeftColumns>> a(left, row);
    const GroupOperand<Order::Transposed, false, Panels<Right, kRightRows, kRightColumns>> b(
        right, column);
    constexpr int kPart = kNarrowDepth / kStepOf<Left>;
#pragma unroll
    for (int first = 0; first < kDepth / kStepOf<Left>; first += kPart) {
        Fragment<1, kAcross> part;
        fence_products();
#pragma unroll
        for (int step = first; step < minimum(first + kPart, kDepth / kStepOf<Left>); ++step)
            start_product<Left, false, false, Right>(part.at[0], a.at(step), b.at(step),
                                                     step > first);
        commit_products();
        wait_products<0>();
        settle(part.at[0]);
#pragma unroll
        for (int j = 0; j < kAcross; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e)
                acc.at[0][j][e] =
                    add || first > 0 ? acc.at[0][j][e] + part.at[0][j][e] : part.at[0][j][e];
    }
}
/// What products will be added to is in its registers from here on, not only where the first one
/// starts.
template <int kAcross>
NK_DEVICE void begin_multiply(Fragment<1, kAcross>& acc) {
    settle(acc.at[0]);
}
/// Waits for all products but those of the last kPending groups; acc is one of the others'.
template <int kPending, int kAcross>
NK_DEVICE void finish_multiply(Fragment<1, kAcross>& acc) {
    wait_products<kPending>();
    settle(acc.at[0]);
}

}  // namespace nk
