// Diagram matmul_epilogue, region Z.
//   Z[m = 4096, n = 4096] : bf16
// Derivation:
//   fuse all
//   group m by 128
//   group n by 128
//   stream k by 64
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    matmul_epilogue_Z(Global<const bf16> X, Global<const bf16> shift, Global<const bf16> W,
                      Global<const bf16> bias, Global<const bf16> R, Global<bf16> Z) {
    // Shared memory: 98304 bytes.
    NK_SHARED_MEMORY(memory);
    // X_tile: 128 x 64, 3 stages
    const auto X_tile = [&](int stage) {
        return shared_matrix<bf16, 128, 64>(memory, stage * 16384, "X_tile");
    };
    // W_tile: 128 x 64, 3 stages
    const auto W_tile = [&](int stage) {
        return shared_matrix<bf16, 128, 64>(memory, 49152 + stage * 16384, "W_tile");
    };
    // Z_staging: 128 x 128, after everything else
    const auto Z_staging = shared_matrix<bf16, 128, 128>(memory, 0, "Z_staging");
    const int plane = int(blockIdx.x);
    const int band = plane / 512 * 16;
    const int band_height = minimum(16, 32 - band);
    const int group_m = band + plane % 512 % band_height;
    const int group_n = plane % 512 / band_height;
    const int m0 = group_m * 128;
    const int n0 = group_n * 128;
    using Rows = Fragment<4, 1>;
    const int warp_m = warp_index() / 2 * 64;  // first row of this warp
    const int warp_n = warp_index() % 2 * 64;  // and its first column

    // Y_sum[m, n] = 0
    Fragment<4, 8> Y_sum;  // n of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            Y_sum(i, j) = 0.0f;
        }
    }

    // chunks of k
    const auto load_k = [&](int k_0, int stage) {
        copy_async<8>(X_tile(stage), X, m0 * 4096 + k_0, 4096, 128, 64, threadIdx.x, kThreads);
        copy_async<8>(W_tile(stage), W, n0 * 4096 + k_0, 4096, 128, 64, threadIdx.x, kThreads);
    };
    const auto chunk_k = [&](int k_0, int stage) NK_INLINE {
        // Y_sum[m, n] = Y_sum[m, n] + sum(k) max(X[m, k] + shift[k], 0) * W[n, k]
        Fragment<4, 8> left;
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const int im = warp_m + Rows::row(i);
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                const int ik = Fragment<4, 8>::column(j);
                const float t0 = to_f32(X_tile(stage)(im, ik));
                left(i, j) = fmaxf(t0 + to_f32(shift[k_0 + ik]), 0.0f);
            }
        }
        const auto left_operand = as_left<bf16>(left);  // rounded to bf16
        multiply<Order::Transposed>(Y_sum, left_operand, W_tile(stage), 0, warp_n);
    };
    int k_ahead = 0;  // the next chunk to load
    for (int stage = 0; stage < 2; ++stage) {
        if (k_ahead < 4096) {
            load_k(k_ahead, stage);
        }
        commit_copies();
        k_ahead += 64;
    }
    int stage = 0;
    for (int k_0 = 0; k_0 < 4096; k_0 += 64) {
        wait_copies<1>();
        block_barrier();
        if (k_ahead < 4096) {
            load_k(k_ahead, (stage + 2) % 3);
        }
        commit_copies();
        k_ahead += 64;
        chunk_k(k_0, stage);
        stage = (stage + 1) % 3;
    }

    // Z[m, n] = 0.5 * (Y_sum[m, n] + bias[n]) * (1 + erf((Y_sum[m, n] + bias[n]) * rsqrt(2))) +
    // R[m, n]
    Fragment<4, 8> Z_part;  // n of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int im = warp_m + Rows::row(i);
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            const int in = warp_n + Fragment<4, 8>::column(j);
            const float t0 = Y_sum(i, j) + to_f32(bias[n0 + in]);
            const float t1 = 0.5f * (Y_sum(i, j) + to_f32(bias[n0 + in]));
            const float t2 = to_f32(R[m0 * 4096 + im * 4096 + n0 + in]);
            Z_part(i, j) = t1 * (1.0f + erff(t0 * 0.70710677f)) + t2;
        }
    }

    // save Z
    block_barrier();
    store(Z_part, Z_staging, warp_m, warp_n);
    block_barrier();
    save_matrix<8>(Z_staging, 0, 128, Z, m0 * 4096 + n0, 4096, 128, 128, threadIdx.x, kThreads);
}

}  // namespace nk
