// Diagram softmax, region Y_2.
//   Y_1[n = 32768] : bf16
//   Y_2[n = 32768] : bf16
// Derivation:
//   unfuse Y
//   group n by 1 in Y_2
//   stream d by 4096 in Y_2
//   group n by 1 in Y
//   group d by 8192 in Y
// Target sm_80, for sm_90.
// Schedule:
//   [Y_2]
//   warps = 1
//   warps_down = 1
//   warps_across = 1
// 0 bytes of shared memory
// chunks of 4096 of d: 512 clocks each, 1.00 of the bound of the exponential units
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 32;

extern "C" __global__ void __launch_bounds__(kThreads)
    softmax_Y_2(Global<const bf16> X, Global<bf16> Y_1, Global<bf16> Y_2) {
    const int n0 = int(blockIdx.x);
    using Rows = RowFragment<1, 1, 8, 32>;

    // Y_1_max[n] = -inf
    float Y_1_max[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        Y_1_max[i] = minus_infinity();
    }

    // Y_2_sum[n] = 0
    float Y_2_sum[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        Y_2_sum[i] = 0.0f;
    }

    // chunks of d
    const auto chunk_d = [&](int d0) NK_INLINE {
        // load X
        RowFragment<1, 8, 8, 32> X_part;  // d of this warp
        load_rows(X_part, X, n0 * 2048 + d0, 0, 1, 2048);

        // Y_1_max_new[n] = max(Y_1_max[n], max(d) X[n, d])
        float Y_1_max_new[Rows::rows];
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            float acc = minus_infinity();
#pragma unroll
            for (int j = 0; j < 64; ++j) {
                acc = maximum(acc, X_part(i, j));
            }
            acc = row_maximum<Rows>(acc);
            Y_1_max_new[i] = maximum(Y_1_max[i], acc);
        }

        // Y_2_weight[n, d] = exp(X[n, d] - guard(Y_1_max_new[n]))
        RowFragment<1, 8, 8, 32> Y_2_weight;  // d of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const float r0 = absolute(Y_1_max_new[i]) >= 67108864.0f ? 1.0f : 1.442695f;
            const float r1 = guard(Y_1_max_new[i]) * r0;
#pragma unroll
            for (int j = 0; j < 64; ++j) {
                Y_2_weight(i, j) = exp2_fast(X_part(i, j) * r0 - r1);
            }
        }

        // Y_2_repair[n] = exp(Y_1_max[n] - guard(Y_1_max_new[n]))
        float Y_2_repair[Rows::rows];
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const float t0 = (Y_1_max[i] - guard(Y_1_max_new[i])) * 1.442695f;
            Y_2_repair[i] = exp2_fast(t0);
        }

        // Y_2_sum[n] = Y_2_sum[n] * Y_2_repair[n] + sum(d) Y_2_weight[n, d]
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            float acc = 0.0f;
#pragma unroll
            for (int j = 0; j < 64; ++j) {
                acc = acc + Y_2_weight(i, j);
            }
            Y_2_sum[i] = Y_2_sum[i] * Y_2_repair[i] + acc;
        }

        // Y_1_max[n] = Y_1_max_new[n]
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            Y_1_max[i] = Y_1_max_new[i];
        }
    };
    for (int d0 = 0; d0 < 2048; d0 += 4096) {
        chunk_d(d0);
    }

    // Y_2_sum of all lanes of a row
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        Y_2_sum[i] = row_sum<Rows>(Y_2_sum[i]);
    }

    // Y_1[n] = Y_1_max[n]
    float Y_1_part[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        Y_1_part[i] = Y_1_max[i];
    }

    // Y_2[n] = Y_2_sum[n]
    float Y_2_part[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        Y_2_part[i] = Y_2_sum[i];
    }

    // save Y_1
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        if (threadIdx.x == 0) {
            const int at = n0;
            Y_1[at] = convert<bf16>(Y_1_part[i]);
        }
    }

    // save Y_2
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        if (threadIdx.x == 0) {
            const int at = n0;
            Y_2[at] = convert<bf16>(Y_2_part[i]);
        }
    }
}

}  // namespace nk
// Diagram softmax, region Y.
//   Y[n = 32768, d = 2048] : bf16
// Derivation:
//   unfuse Y
//   group n by 1 in Y_2
//   stream d by 4096 in Y_2
//   group n by 1 in Y
//   group d by 8192 in Y
// Target sm_80, for sm_90.
// Schedule:
//   [Y]
//   warps = 1
//   warps_down = 1
//   warps_across = 1
// 0 bytes of shared memory
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 32;

extern "C" __global__ void __launch_bounds__(kThreads)
    softmax_Y(Global<const bf16> X, Global<const bf16> Y_1, Global<const bf16> Y_2,
              Global<bf16> Y) {
    const int n0 = int(blockIdx.x);
    using Rows = RowFragment<1, 1, 8, 32>;

    // load X
    RowFragment<1, 8, 8, 32> X_part;  // d of this warp
    load_rows(X_part, X, n0 * 2048, 0, 1, 2048);

    // Y[n, d] = exp(X[n, d] - Y_1[n]) / Y_2[n]
    RowFragment<1, 8, 8, 32> Y_part;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const float r0 = to_f32(Y_1[n0]) * 1.442695f;
        const float r1 = divide_fast(1.0f, to_f32(Y_2[n0]));
#pragma unroll
        for (int j = 0; j < 64; ++j) {
            const float t0 = exp2_gradual(X_part(i, j) * 1.442695f - r0);
            Y_part(i, j) = multiply(t0, r1);
        }
    }

    // save Y
    save_rows(Y_part, Y, n0 * 2048, 0, 1, 2048);
}

}  // namespace nk
