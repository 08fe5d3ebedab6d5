namespace nk {

/// From the first half of the buffer to the second.
extern "C" __global__ void __launch_bounds__(1024)
    measure_copy(u64* times, uint4* memory, i64 bytes, i64 rounds) {
    const i64 half = bytes / 32;
    const i64 stride = i64(gridDim.x) * blockDim.x;
    Watch watch;
    watch.start();
    for (i64 round = 0; round < rounds; ++round)
        for (i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x; at < half; at += 4 * stride) {
            uint4 values[4];
#pragma unroll
            for (int k = 0; k < 4; ++k)
                if (at + k * stride < half) values[k] = memory[at + k * stride];
#pragma unroll
            for (int k = 0; k < 4; ++k)
                if (at + k * stride < half) memory[half + at + k * stride] = values[k];
        }
    watch.stop(times);
}

/// Every block all of the buffer, a power of two, past the cache of its processor.
extern "C" __global__ void __launch_bounds__(1024)
    measure_read(u64* times, const uint4* memory, i64 bytes, i64 rounds) {
    const i64 vectors = bytes / 16;
    const i64 first = threadIdx.x + blockIdx.x * (vectors / gridDim.x) / 8 * 8;
    u32 sum = 0;
    Watch watch;
    watch.start();
    for (i64 round = 0; round < rounds; ++round)
        for (i64 at = 0; at < vectors; at += 8 * blockDim.x) {
            uint4 values[8];
#pragma unroll
            for (int k = 0; k < 8; ++k)
                asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                             : "=r"(values[k].x), "=r"(values[k].y), "=r"(values[k].z),
                               "=r"(values[k].w)
                             : "l"(memory + ((first + at + k * blockDim.x) & (vectors - 1))));
#pragma unroll
            for (int k = 0; k < 8; ++k) sum ^= values[k].x ^ values[k].y ^ values[k].z ^ values[k].w;
        }
    need(times, sum);
    watch.stop(times);
}

/// Shared memory, four words a thread, neighbours beside each other; 32 KiB of it.
extern "C" __global__ void __launch_bounds__(1024)
    measure_shared(u64* times, const uint4*, i64, i64 rounds) {
    extern __shared__ __align__(1024) uint4 tile[];
    for (int at = threadIdx.x; at < 2048; at += blockDim.x) tile[at] = make_uint4(at, 1, 2, 3);
    const u32 from = u32(__cvta_generic_to_shared(tile)) + 16 * threadIdx.x;
    u32 sum = 0;
    Watch watch;
    watch.start();
    for (i64 round = 0; round < rounds; ++round)
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            uint4 value;
            asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                         : "r"(from + (k & 1) * 16384));
            sum ^= value.x ^ value.y ^ value.z ^ value.w;
        }
    need(times, sum);
    watch.stop(times);
}

/// Makes of the buffer one ring of lines of 128 bytes, a power of two, each naming the next.
extern "C" __global__ void __launch_bounds__(1024)
    measure_link(u64* times, u64* memory, i64 bytes, i64) {
    const i64 lines = bytes / 128;
    const i64 step = lines / 8 * 5 + 1;
    for (i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x; at < lines;
         at += i64(gridDim.x) * blockDim.x)
        memory[16 * at] = u64((at + step) & (lines - 1));
    Watch watch;
    watch.start();
    watch.stop(times);
}

/// Follows the ring, so that every read waits for the one before.
extern "C" __global__ void measure_chase(u64* times, const u64* memory, i64, i64 rounds) {
    u64 at = 0;
    Watch watch;
    watch.start();
    for (i64 round = 0; round < rounds; ++round)
        asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(at) : "l"(memory + 16 * at));
    need(times, u32(at));
    watch.stop(times);
}

}  // namespace nk
