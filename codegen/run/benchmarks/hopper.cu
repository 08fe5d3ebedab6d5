namespace nk {

constexpr int kStages = 4;
constexpr int kChunk = 32768;

/// Every block all of the buffer, a power of two, by bulk copies to its shared memory; 128 KiB of it.
extern "C" __global__ void measure_bulk(u64* times, const unsigned char* memory, i64 bytes,
                                        i64 rounds) {
    extern __shared__ __align__(1024) unsigned char tile[];
    __shared__ u64 barriers[kStages];
    if (threadIdx.x == 0) {
        for (int i = 0; i < kStages; ++i) start_barrier(barriers, i, 1);
        fence_barriers();
    }
    Watch watch;
    watch.start();
    if (threadIdx.x == 0) {
        const i64 chunks = bytes / kChunk;
        const i64 first = blockIdx.x * chunks / gridDim.x;
        for (i64 i = 0; i < rounds * chunks + kStages; ++i) {
            const int stage = int(i % kStages);
            if (i >= kStages) wait_barrier(barriers, stage, int(i / kStages - 1) & 1);
            if (i >= rounds * chunks) continue;
            arrive_expecting(barriers, stage, kChunk);
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
                "[%3];" ::"r"(shared_address(tile, stage * kChunk)),
                "l"(memory + ((first + i) & (chunks - 1)) * kChunk), "r"(kChunk),
                "r"(shared_address(barriers, 8 * stage))
                : "memory");
        }
    }
    watch.stop(times);
}

/// The shared memory of the other block of a cluster of two, as measure_shared reads its own.
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(1024)
    measure_cluster(u64* times, const uint4*, i64, i64 rounds) {
    extern __shared__ __align__(1024) uint4 shared_tile[];
    for (int at = threadIdx.x; at < 2048; at += blockDim.x)
        shared_tile[at] = make_uint4(at, 1, 2, 3);
    u32 from = u32(__cvta_generic_to_shared(shared_tile)) + 16 * threadIdx.x;
    asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(from) : "r"((blockIdx.x & 1) ^ 1));
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    u32 sum = 0;
    Watch watch;
    watch.start();
    for (i64 round = 0; round < rounds; ++round)
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            uint4 value;
            asm volatile("ld.volatile.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                         : "r"(from + (k & 1) * 16384));
            sum ^= value.x ^ value.y ^ value.z ^ value.w;
        }
    need(times, sum);
    watch.stop(times);
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

}  // namespace nk
