// The instructions of target sm_90a on a GPU, a function each: barriers in shared memory that count
// arrivals and bytes, bulk copies of boxes of arrays, products of warp groups, register budgets.
// emulator/hopper.cuh has the same names for the CPU.
//
// Bulk copies and products reach shared memory through a proxy of their own (PTX, "async proxy"):
// what threads have written there themselves they must fence before those read it.
#pragma once

#include "instructions.cuh"

namespace nk {

/// Threads of a warp group: four warps, which multiply together.
inline constexpr int kGroup = 128;

/// An array in device memory as bulk copies see it, made by the host: CUtensorMap of the driver.
struct alignas(64) TensorMap {
    u64 words[16];
};

/// A barrier in shared memory completes a phase when so many arrivals and all bytes announced have
/// come; phases have parity 0 and 1 in turn. A thread starts it, then fence_barriers, then all
/// meet.
NK_DEVICE void start_barrier(Shared<u64> barriers, int which, int arrivals) {
    asm volatile(
        "mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barriers, 8 * which)),
        "r"(arrivals)
        : "memory");
}
NK_DEVICE void fence_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
NK_DEVICE void arrive(Shared<u64> barriers, int which) {
    asm volatile(
        "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barriers, 8 * which))
        : "memory");
}
/// Arrives, and announces bytes that bulk copies will bring in this phase.
NK_DEVICE void arrive_expecting(Shared<u64> barriers, int which, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                     shared_address(barriers, 8 * which)),
                 "r"(bytes)
                 : "memory");
}
/// Arrives when this thread's asynchronous copies so far (start_copy) are through.
NK_DEVICE void arrive_after_copies(Shared<u64> barriers, int which) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(
                     shared_address(barriers, 8 * which))
                 : "memory");
}
/// Waits until the phase of that parity is complete.
NK_DEVICE void wait_barrier(Shared<u64> barriers, int which, int parity) {
    asm volatile(
        "{\n.reg .pred done;\nWAIT:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@done bra DONE;\nbra WAIT;\nDONE:\n}" ::"r"(shared_address(barriers, 8 * which)),
        "r"(parity)
        : "memory");
}
/// Whether the phase of that parity is complete.
NK_DEVICE bool test_barrier(Shared<u64> barriers, int which, int parity) {
    u32 done;
    asm volatile(
        "{\n.reg .pred done;\n"
        "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n"
        "selp.u32 %0, 1, 0, done;\n}"
        : "=r"(done)
        : "r"(shared_address(barriers, 8 * which)), "r"(parity)
        : "memory");
    return done != 0;
}

/// Waits for `threads` threads, whole warps, that come to the barrier of this number, 1 to 15.
NK_DEVICE void named_barrier(int number, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
/// Comes to it without waiting.
NK_DEVICE void arrive_named(int number, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
/// Makes what this thread wrote to shared memory visible to bulk copies and products.
NK_DEVICE void fence_async() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

NK_DEVICE void prefetch_map(const TensorMap& map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(u64(&map)) : "memory");
}
/// Starts the copy of the box at `at` of an array, the contiguous dimension first; what is outside
/// the array is zero. Its bytes complete on a barrier.
template <int kRank, class T>
NK_DEVICE void start_bulk_load(Shared<T> tile, int bytes, const TensorMap& map,
                               const int (&at)[kRank], Shared<u64> barriers, int which) {
    static_assert(kRank >= 2 && kRank <= 5);
    const u32 to = shared_address(tile, bytes);
    const u32 barrier = shared_address(barriers, 8 * which);
#define NK_BULK_LOAD(rank, coordinates, ...)                                                 \
    asm volatile(                                                                            \
        "cp.async.bulk.tensor." rank                                                         \
        ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" coordinates \
        "}], [%2];" ::"r"(to),                                                               \
        "l"(u64(&map)), "r"(barrier), __VA_ARGS__                                            \
        : "memory")
    if constexpr (kRank == 2)
        NK_BULK_LOAD("2d", "%3, %4", "r"(at[0]), "r"(at[1]));
    else if constexpr (kRank == 3)
        NK_BULK_LOAD("3d", "%3, %4, %5", "r"(at[0]), "r"(at[1]), "r"(at[2]));
    else if constexpr (kRank == 4)
        NK_BULK_LOAD("4d", "%3, %4, %5, %6", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]));
    else
        NK_BULK_LOAD("5d", "%3, %4, %5, %6, %7", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]),
                     "r"(at[4]));
#undef NK_BULK_LOAD
}
/// Starts the copy of a box from shared memory to the array; what is outside the array is left out.
template <int kRank, class T>
NK_DEVICE void start_bulk_store(const TensorMap& map, const int (&at)[kRank], Shared<T> tile,
                                int bytes) {
    static_assert(kRank >= 2 && kRank <= 5);
    const u32 from = shared_address(tile, bytes);
#define NK_BULK_STORE(rank, coordinates, ...)                             \
    asm volatile("cp.async.bulk.tensor." rank                             \
                 ".global.shared::cta.tile.bulk_group [%0, {" coordinates \
                 "}], [%1];" ::"l"(u64(&map)),                            \
                 "r"(from), __VA_ARGS__                                   \
                 : "memory")
    if constexpr (kRank == 2)
        NK_BULK_STORE("2d", "%2, %3", "r"(at[0]), "r"(at[1]));
    else if constexpr (kRank == 3)
        NK_BULK_STORE("3d", "%2, %3, %4", "r"(at[0]), "r"(at[1]), "r"(at[2]));
    else if constexpr (kRank == 4)
        NK_BULK_STORE("4d", "%2, %3, %4, %5", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]));
    else
        NK_BULK_STORE("5d", "%2, %3, %4, %5, %6", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]),
                      "r"(at[4]));
#undef NK_BULK_STORE
}
/// Makes a group of this thread's stores since the last one.
NK_DEVICE void commit_stores() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until all of this thread's groups of stores but the last kPending have read their source.
template <int kPending>
NK_DEVICE void wait_stores_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

/// Registers of each thread of the warp group from here on: what one gives up another may take.
template <int kRegisters>
NK_DEVICE void give_up_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
NK_DEVICE void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

/// Orders this warp group's registers and shared memory before the products that it starts next.
NK_DEVICE void fence_products() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// Makes a group of the warp group's products since the last one.
NK_DEVICE void commit_products() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until all of the warp group's groups of products but the last kPending are through.
template <int kPending>
NK_DEVICE void wait_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
/// Registers that products wrote, or read, must not be used before the wait that covers them: the
/// compiler keeps to that from here on.
template <int kAcross>
NK_DEVICE void settle(float (&results)[kAcross][4]) {
#pragma unroll
    for (int j = 0; j < kAcross; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) asm volatile("" : "+f"(results[j][e])::"memory");
}
template <int kWords>
NK_DEVICE void settle(u32 (&words)[kWords]) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) asm volatile("" : "+r"(words[i])::"memory");
}

/// The same in a register of its own, whatever the assembler thinks of it.
NK_DEVICE u32 moved(u32 word) {
    u32 to;
    asm volatile("mov.b32 %0, %1;" : "=r"(to) : "r"(word));
    return to;
}

/// How an operand lies in shared memory (PTX, "matrix descriptor"): from `bytes` of an array on, in
/// panels whose rows of kSwizzle bytes are permuted as prelude/panels.cuh says. Eight rows are
/// `rows_apart` bytes from the next eight, and panels `panels_apart`.
template <int kSwizzle, class T>
NK_DEVICE u64 operand_at(Shared<T> array, int bytes, int panels_apart, int rows_apart) {
    static_assert(kSwizzle == 32 || kSwizzle == 64 || kSwizzle == 128);
    constexpr u64 kMode = kSwizzle == 128 ? 1 : kSwizzle == 64 ? 2 : 3;
    return u64((shared_address(array, bytes) & 0x3ffff) >> 4) | u64(panels_apart >> 4) << 16 |
           u64(rows_apart >> 4) << 32 | kMode << 62;
}
/// The operand that lies so many bytes further on.
NK_DEVICE u64 further(u64 operand, int bytes) {
    return operand + u64(bytes >> 4);
}

}  // namespace nk

#include "wgmma.cuh"
