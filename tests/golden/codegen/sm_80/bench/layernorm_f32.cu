// Diagram layernorm_f32, region Y.
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
    layernorm_f32_Y(Global<const float> X, Global<const float> G, Global<const float> B,
                    Global<float> Y, float eps) {
    // Shared memory: 128 bytes.
    NK_SHARED_MEMORY(memory);
    // scratch: a value of every warp
    const auto scratch = shared_tile<float>(memory, 0, 2, "scratch");
    const int n0 = int(blockIdx.x);
    using Rows = RowFragment<1, 1, 4, 64>;

    // load X
    RowFragment<1, 16, 4, 64> X_part;  // d of this warp
    load_rows(X_part, X, n0 * 4096, 0, 1, 4096);

    // load G
    RowFragment<1, 16, 4, 64> G_part;  // d of this warp
    load_rows(G_part, G, 0, 0, 1, 4096);

    // load B
    RowFragment<1, 16, 4, 64> B_part;  // d of this warp
    load_rows(B_part, B, 0, 0, 1, 4096);

    // Y.1[n] = sum(d) X[n, d] / size(d)
    float Y_1[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        float acc = 0.0f;
#pragma unroll
        for (int j = 0; j < 64; ++j) {
            acc = acc + X_part(i, j);
        }
        acc = block_sum<Rows::lanes_per_row>(acc, scratch);
        Y_1[i] = acc * 0.00024414062f;
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
        acc = block_sum<Rows::lanes_per_row>(acc, scratch);
        Y_2[i] = acc * 0.00024414062f;
    }

    // Y[n, d] = (X[n, d] - Y.1[n]) * rsqrt(Y.2[n] + eps) * G[d] + B[d]
    RowFragment<1, 16, 4, 64> Y_part;  // d of this warp
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
    save_rows(Y_part, Y, n0 * 4096, 0, 1, 4096);
}

}  // namespace nk
