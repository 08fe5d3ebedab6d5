// The instructions of target sm_90a on the CPU, under the names of ../hopper.cuh and ../wgmma.cuh.
//
// What is asynchronous (bulk copies, products of warp groups) ends as early or as late as it may,
// in random order. Results of a product are poison until a wait covers it. A warp group's product
// is carried out once, for all of its threads.
#pragma once

#include "instructions.cuh"

namespace nk {

inline constexpr int kGroup = 128;
using emulator::TensorMap;

namespace emulator {

inline i64 barrier_place(const Shared<u64>& barriers, int which) {
    barriers.check(which, 1);
    return place_of(barriers, 8 * i64(which));
}

/// A bulk copy between an array and a part of a tile that holds all of the box.
template <int kRank, class T>
BulkCopy bulk_copy(const TensorMap& map, const int (&at)[kRank], const Shared<T>& tile, int bytes) {
    static_assert(kRank >= 2 && kRank <= kMostDimensions);
    if (map.rank != kRank)
        context->fail_access(context, "a bulk copy of another rank than its map", map.name, kRank,
                             map.rank);
    BulkCopy copy;
    i64 size = map.element_bytes;
    for (int d = 0; d < kRank; ++d) {
        copy.at[d] = at[d];
        size *= map.box[d];
    }
    shared_part(tile, bytes, int(size), 128, "misaligned bulk copy");
    copy.map = &map;
    copy.tile = tile.name();
    copy.place = place_of(tile, bytes);
    return copy;
}

}  // namespace emulator

NK_DEVICE void start_barrier(Shared<u64> barriers, int which, int arrivals) {
    emulator::Context& now = *emulator::context;
    const i64 place = emulator::barrier_place(barriers, which);
    emulator::note_write(place, 8, barriers.name(), which);
    now.hopper.start_barrier(&now, place, arrivals);
}
NK_DEVICE void fence_barriers() {
    emulator::context->hopper.fence_barriers(emulator::context);
}
NK_DEVICE void arrive(Shared<u64> barriers, int which) {
    emulator::context->hopper.arrive(emulator::context, emulator::barrier_place(barriers, which),
                                     0);
}
NK_DEVICE void arrive_expecting(Shared<u64> barriers, int which, int bytes) {
    emulator::context->hopper.arrive(emulator::context, emulator::barrier_place(barriers, which),
                                     bytes);
}
NK_DEVICE void arrive_after_copies(Shared<u64> barriers, int which) {
    emulator::context->hopper.arrive_after_copies(emulator::context,
                                                  emulator::barrier_place(barriers, which));
}
NK_DEVICE void wait_barrier(Shared<u64> barriers, int which, int parity) {
    emulator::context->hopper.wait_barrier(emulator::context,
                                           emulator::barrier_place(barriers, which), parity);
}
NK_DEVICE bool test_barrier(Shared<u64> barriers, int which, int parity) {
    return emulator::context->hopper.test_barrier(emulator::context,
                                                  emulator::barrier_place(barriers, which), parity);
}

NK_DEVICE void named_barrier(int number, int threads) {
    emulator::context->hopper.named_barrier(emulator::context, number, threads, true);
}
NK_DEVICE void arrive_named(int number, int threads) {
    emulator::context->hopper.named_barrier(emulator::context, number, threads, false);
}
NK_DEVICE void fence_async() {
    emulator::context->hopper.fence_async(emulator::context);
}

NK_DEVICE void prefetch_map(const TensorMap&) {}
template <int kRank, class T>
NK_DEVICE void start_bulk_load(Shared<T> tile, int bytes, const TensorMap& map,
                               const int (&at)[kRank], Shared<u64> barriers, int which) {
    emulator::BulkCopy copy = emulator::bulk_copy(map, at, tile, bytes);
    copy.barrier = emulator::barrier_place(barriers, which);
    emulator::context->hopper.start_bulk_copy(emulator::context, &copy);
}
template <int kRank, class T>
NK_DEVICE void start_bulk_store(const TensorMap& map, const int (&at)[kRank], Shared<T> tile,
                                int bytes) {
    const emulator::BulkCopy copy = emulator::bulk_copy(map, at, tile, bytes);
    emulator::context->hopper.start_bulk_copy(emulator::context, &copy);
}
NK_DEVICE void commit_stores() {
    emulator::context->hopper.commit_stores(emulator::context);
}
template <int kPending>
NK_DEVICE void wait_stores_read() {
    emulator::context->hopper.wait_stores_read(emulator::context, kPending);
}

template <int kRegisters>
NK_DEVICE void give_up_registers() {
    static_assert(kRegisters >= 24 && kRegisters <= 256 && kRegisters % 8 == 0);
    emulator::context->hopper.set_registers(emulator::context, kRegisters, false);
}
template <int kRegisters>
NK_DEVICE void take_registers() {
    static_assert(kRegisters >= 24 && kRegisters <= 256 && kRegisters % 8 == 0);
    emulator::context->hopper.set_registers(emulator::context, kRegisters, true);
}

NK_DEVICE void fence_products() {
    emulator::context->hopper.fence_products(emulator::context);
}
NK_DEVICE void commit_products() {
    emulator::context->hopper.commit_products(emulator::context);
}
template <int kPending>
NK_DEVICE void wait_products() {
    emulator::context->hopper.wait_products(emulator::context, kPending);
}
template <int kAcross>
NK_DEVICE void settle(float (&results)[kAcross][4]) {
    emulator::context->hopper.settle(emulator::context, results, 4 * kAcross);
}
template <int kWords>
NK_DEVICE void settle(u32 (&words)[kWords]) {
    emulator::context->hopper.settle(emulator::context, words, kWords);
}

NK_DEVICE u32 moved(u32 word) {
    return word;
}

template <int kSwizzle, class T>
NK_DEVICE u64 operand_at(Shared<T> array, int bytes, int panels_apart, int rows_apart) {
    static_assert(kSwizzle == 32 || kSwizzle == 64 || kSwizzle == 128);
    constexpr u64 kMode = kSwizzle == 128 ? 1 : kSwizzle == 64 ? 2 : 3;
    emulator::Context& now = *emulator::context;
    emulator::shared_part(array, bytes, 16, 8 * kSwizzle,
                          "an operand that starts inside a pattern of the swizzle");
    if (panels_apart % 16 != 0 || rows_apart % 16 != 0 || panels_apart < 0 || rows_apart < 0 ||
        panels_apart > 0x3fff0 || rows_apart > 0x3fff0)
        now.fail_access(&now, "distances in an operand that cannot be encoded", array.name(),
                        rows_apart, panels_apart);
    const u64 address = u64(emulator::place_of(array, bytes) + emulator::kSharedBase);
    return (address & 0x3ffff) >> 4 | u64(panels_apart >> 4) << 16 | u64(rows_apart >> 4) << 32 |
           kMode << 62;
}
NK_DEVICE u64 further(u64 operand, int bytes) {
    emulator::Context& now = *emulator::context;
    if (bytes % 16 != 0 || i64(operand & 0x3fff) + bytes / 16 > 0x3fff)
        now.fail(&now, "an operand's start that cannot be encoded");
    return operand + u64(bytes >> 4);
}

template <class A, class B>
inline constexpr bool same = std::is_same_v<A, B>;

namespace emulator {

template <class T>
constexpr Format format_of() {
    static_assert(same<T, bf16> || same<T, f16> || same<T, e4m3> || same<T, e5m2>);
    if constexpr (same<T, bf16>) return Format::BF16;
    if constexpr (same<T, f16>) return Format::F16;
    return same<T, e4m3> ? Format::E4M3 : Format::E5M2;
}

}  // namespace emulator

template <class Left, bool kLeftTransposed, bool kRightTransposed, class Right = Left, int kAcross>
NK_DEVICE void start_product(float (&acc)[kAcross][4], u64 left, u64 right, bool add) {
    static_assert(kAcross >= 1 && kAcross <= 32);
    static_assert(same<Left, Right> || (sizeof(Left) == 1 && sizeof(Right) == 1));
    static_assert(sizeof(Left) == 2 || (!kLeftTransposed && !kRightTransposed));
    const emulator::GroupProduct product{&acc[0][0],
                                         kAcross,
                                         nullptr,
                                         left,
                                         right,
                                         kLeftTransposed,
                                         kRightTransposed,
                                         add,
                                         emulator::format_of<Left>(),
                                         emulator::format_of<Right>()};
    emulator::context->hopper.start_product(emulator::context, &product);
}
template <class T, bool kRightTransposed, int kAcross>
NK_DEVICE void start_product(float (&acc)[kAcross][4], const u32 (&left)[4], u64 right, bool add) {
    static_assert(kAcross >= 1 && kAcross <= 32);
    static_assert(same<T, bf16> || same<T, f16>);
    const emulator::GroupProduct product{&acc[0][0],
                                         kAcross,
                                         left,
                                         0,
                                         right,
                                         false,
                                         kRightTransposed,
                                         add,
                                         emulator::format_of<T>(),
                                         emulator::format_of<T>()};
    emulator::context->hopper.start_product(emulator::context, &product);
}

}  // namespace nk
