namespace nk {

/// Sums of products, 32 a round and thread, in kChains that do not wait for each other.
template <int kChains>
NK_DEVICE void add_products(u64* times, i64 rounds) {
    float values[kChains];
    for (int j = 0; j < kChains; ++j) values[j] = float(threadIdx.x + j);
    const float factor = 1.0f + 1e-6f * threadIdx.x;
    Watch watch;
    watch.start();
    for (i64 round = 0; round < rounds; ++round)
#pragma unroll
        for (int k = 0; k < 32; ++k)
            asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(values[k % kChains]) : "f"(factor));
    float sum = 0;
    for (const float value : values) sum += value;
    need(times, __float_as_uint(sum));
    watch.stop(times);
}
extern "C" __global__ void __launch_bounds__(1024)
    measure_arithmetic(u64* times, const uint4*, i64, i64 rounds) {
    add_products<8>(times, rounds);
}
extern "C" __global__ void measure_dependent(u64* times, const uint4*, i64, i64 rounds) {
    add_products<1>(times, rounds);
}

/// Powers of two, 32 a round and thread.
extern "C" __global__ void __launch_bounds__(1024)
    measure_exponential(u64* times, const uint4*, i64, i64 rounds) {
    float values[8];
    for (int j = 0; j < 8; ++j) values[j] = 0.001f * float(threadIdx.x + j);
    Watch watch;
    watch.start();
    for (i64 round = 0; round < rounds; ++round)
#pragma unroll
        for (int k = 0; k < 32; ++k)
            asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(values[k % 8]));
    float sum = 0;
    for (const float value : values) sum += value;
    need(times, __float_as_uint(sum));
    watch.stop(times);
}

/// Barriers of the block.
extern "C" __global__ void __launch_bounds__(1024)
    measure_barrier(u64* times, const uint4*, i64, i64 rounds) {
    Watch watch;
    watch.start();
    for (i64 round = 0; round < rounds; ++round) asm volatile("bar.sync 0;" ::: "memory");
    watch.stop(times);
}

/// Nothing, for the time from one kernel to the next.
extern "C" __global__ void measure_launch(u64* times, const uint4*, i64, i64) {
    Watch watch;
    watch.start();
    watch.stop(times);
}

}  // namespace nk
