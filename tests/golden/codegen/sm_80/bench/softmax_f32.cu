// Diagram softmax_f32, region Y.
//   Y[n = 16384, d = 4096] : f32
// Derivation:
//   group n by 1
// Target sm_80, for sm_90.
// Schedule:
//   [Y]
//   warps = 2
//   warps_down = 1
//   warps_across = 2
// 128 bytes of shared memory
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 64;

extern "C" __global__ void __launch_bounds__(kThreads)
    softmax_f32_Y(Global<const float> X, Global<float> Y) {
    // Shared memory: 128 bytes.
    NK_SHARED_MEMORY(memory);
    // scratch: a value of every warp
    const auto scratch = shared_tile<float>(memory, 0, 2, "scratch");
    const int n0 = int(blockIdx.x);
    using Rows = RowFragment<1, 1, 4, 64>;

    // load X
    RowFragment<1, 16, 4, 64> X_part;  // d of this warp
    load_rows(X_part, X, n0 * 4096, 0, 1, 4096);

    // Y.1[n] = max(d) X[n, d]
    float Y_1[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        float acc = minus_infinity();
#pragma unroll
        for (int j = 0; j < 64; ++j) {
            acc = maximum(acc, X_part(i, j));
        }
        acc = block_maximum<Rows::lanes_per_row>(acc, scratch);
        Y_1[i] = acc;
    }

    // Y.2[n] = sum(d) exp(X[n, d] - guard(Y.1[n]))
    float Y_2[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const float r0 = absolute(Y_1[i]) >= 67108864.0f ? 1.0f : 1.442695f;
        const float r1 = guard(Y_1[i]) * r0;
        float acc = 0.0f;
#pragma unroll
        for (int j = 0; j < 64; ++j) {
            acc = acc + exp2_gradual(X_part(i, j) * r0 - r1);
        }
        acc = block_sum<Rows::lanes_per_row>(acc, scratch);
        Y_2[i] = acc;
    }

    // Y[n, d] = exp(X[n, d] - guard(Y.1[n])) / Y.2[n]
    RowFragment<1, 16, 4, 64> Y_part;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const float r0 = absolute(Y_1[i]) >= 67108864.0f ? 1.0f : 1.442695f;
        const float r1 = guard(Y_1[i]) * r0;
        const float r2 = divide_fast(1.0f, Y_2[i]);
#pragma unroll
        for (int j = 0; j < 64; ++j) {
            Y_part(i, j) = multiply(exp2_gradual(X_part(i, j) * r0 - r1), r2);
        }
    }

    // save Y
    save_rows(Y_part, Y, n0 * 4096, 0, 1, 4096);
}

}  // namespace nk
