namespace nk {

constexpr int kAcross = @columns@ / 8;

/// 64 x @columns@ results of a warp group, += operands of @type@ from shared memory over 32 bytes
/// of both, eight a round; 40 KiB of shared memory.
extern "C" __global__ void __launch_bounds__(256)
    measure_group_products(u64* times, const uint4*, i64, i64 rounds) {
    extern __shared__ __align__(1024) u32 tile[];
    for (int at = threadIdx.x; at < 40960 / 4; at += blockDim.x)
        tile[at] = (2654435761u * u32(at)) & 0x80078007u | 0x3f003f00u;
    fence_async();
    const auto operands = reinterpret_cast<Shared<@type@>>(tile);
    const u64 left = operand_at<128>(operands, 0, 16, 1024);
    const u64 right = operand_at<128>(operands, 8192, 16, 1024);
    float results[kAcross][4];
    for (auto& each : results)
        for (float& value : each) value = 0;
    Watch watch;
    watch.start();
    for (i64 round = 0; round < rounds; ++round) {
        fence_products();
#pragma unroll
        for (int k = 0; k < 8; ++k)
            start_product<@type@, false, false>(results, further(left, k % 4 * 32),
                                                further(right, k % 4 * 32), true);
        commit_products();
        wait_products<0>();
        settle(results);
    }
    float sum = 0;
    for (const auto& each : results)
        for (const float value : each) sum += value;
    need(times, __float_as_uint(sum));
    watch.stop(times);
}

}  // namespace nk
