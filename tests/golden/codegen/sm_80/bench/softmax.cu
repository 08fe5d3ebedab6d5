// Diagram softmax, region Y.
//   Y[n = 32768, d = 2048] : bf16
// Derivation:
//   group n by 4
// Target sm_80, for sm_90.
// Schedule:
//   [Y]
//   warps = 4
//   warps_down = 4
//   warps_across = 1
// 0 bytes of shared memory
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    softmax_Y(Global<const bf16> X, Global<bf16> Y) {
    const int n0 = int(blockIdx.x) * 4;
    using Rows = RowFragment<1, 1, 8, 32>;
    const int warp_n = warp_index();  // first row of this warp

    // load X
    RowFragment<1, 8, 8, 32> X_part;  // d of this warp
    load_rows(X_part, X, n0 * 2048 + warp_n * 2048, 2048, 4 - warp_n, 2048);

    // Y.1[n] = max(d) X[n, d]
    float Y_1[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        float acc = minus_infinity();
#pragma unroll
        for (int j = 0; j < 64; ++j) {
            acc = maximum(acc, X_part(i, j));
        }
        acc = row_maximum<Rows>(acc);
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
        acc = row_sum<Rows>(acc);
        Y_2[i] = acc;
    }

    // Y[n, d] = exp(X[n, d] - guard(Y.1[n])) / Y.2[n]
    RowFragment<1, 8, 8, 32> Y_part;  // d of this warp
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
    save_rows(Y_part, Y, n0 * 2048 + warp_n * 2048, 2048, 4 - warp_n, 2048);
}

}  // namespace nk
