// Diagram layernorm, region Y.
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
    layernorm_Y(Global<const bf16> X, Global<const bf16> G, Global<const bf16> B, Global<bf16> Y,
                float eps) {
    const int n0 = int(blockIdx.x) * 4;
    using Rows = RowFragment<1, 1, 8, 32>;
    const int warp_n = warp_index();  // first row of this warp

    // load X
    RowFragment<1, 8, 8, 32> X_part;  // d of this warp
    load_rows(X_part, X, n0 * 2048 + warp_n * 2048, 2048, 4 - warp_n, 2048);

    // Y.1[n] = sum(d) X[n, d] / size(d)
    float Y_1[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        float acc = 0.0f;
#pragma unroll
        for (int j = 0; j < 64; ++j) {
            acc = acc + X_part(i, j);
        }
        acc = row_sum<Rows>(acc);
        Y_1[i] = acc * 0.00048828125f;
    }

    // Y.2[n] = sum(d) (X[n, d] - Y.1[n]) ^ 2 / size(d)
    float Y_2[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        float acc = 0.0f;
#pragma unroll
        for (int j = 0; j < 64; ++j) {
            acc = acc + integer_power<2>(X_part(i, j) - Y_1[i]);
        }
        acc = row_sum<Rows>(acc);
        Y_2[i] = acc * 0.00048828125f;
    }

    // load G
    RowFragment<1, 8, 8, 32> G_part;  // d of this warp
    load_rows(G_part, G, 0, 0, 1, 2048);

    // load B
    RowFragment<1, 8, 8, 32> B_part;  // d of this warp
    load_rows(B_part, B, 0, 0, 1, 2048);

    // Y[n, d] = (X[n, d] - Y.1[n]) * rsqrt(Y.2[n] + eps) * G[d] + B[d]
    RowFragment<1, 8, 8, 32> Y_part;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const float r0 = rsqrtf(Y_2[i] + eps);
#pragma unroll
        for (int j = 0; j < 64; ++j) {
            const float t0 = (X_part(i, j) - Y_1[i]) * r0 * G_part(i, j);
            Y_part(i, j) = t0 + B_part(i, j);
        }
    }

    // save Y
    save_rows(Y_part, Y, n0 * 2048 + warp_n * 2048, 2048, 4 - warp_n, 2048);
}

}  // namespace nk
