namespace nk {

constexpr int kChains = @chains@;

/// @instruction@, eight a round and warp, of which kChains do not wait for each other.
extern "C" __global__ void __launch_bounds__(512)
    measure_products(u64* times, const uint4*, i64, i64 rounds) {
    @result@ results[kChains][4];
    for (auto& each : results)
        for (auto& value : each) value = 0;
    u32 words[6];  // signs and fractions at random, of numbers near one
    for (int i = 0; i < 6; ++i) words[i] = (2654435761u * (6 * threadIdx.x + i)) & 0x80078007u | 0x3f003f00u;
    Watch watch;
    watch.start();
    for (i64 round = 0; round < rounds; ++round)
#pragma unroll
        for (int k = 0; k < 8; ++k)
            asm volatile(
                "@instruction@ {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                : "+@register@"(results[k % kChains][0]), "+@register@"(results[k % kChains][1]),
                  "+@register@"(results[k % kChains][2]), "+@register@"(results[k % kChains][3])
                : "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]), "r"(words[4]),
                  "r"(words[5]));
    @result@ sum = 0;
    for (const auto& each : results)
        for (const auto value : each) sum += value;
    need(times, u32(sum));
    watch.stop(times);
}

}  // namespace nk
