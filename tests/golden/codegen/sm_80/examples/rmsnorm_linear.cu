// Diagram rmsnorm_linear, region Y.
//   Y[n = 4096, c = 4096] : bf16
// Derivation:
//   fuse all
//   group n by 64
//   group c by 64
//   stream d by 64
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    rmsnorm_linear_Y(Global<const bf16> X, Global<const bf16> gain, Global<const bf16> W,
                     Global<bf16> Y, float eps) {
    // Shared memory: 32768 bytes.
    NK_SHARED_MEMORY(memory);
    // X_tile: 64 x 64, 2 stages
    const auto X_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 64>(memory, stage * 8192, "X_tile");
    };
    // W_tile: 64 x 64, 2 stages
    const auto W_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 64>(memory, 16384 + stage * 8192, "W_tile");
    };
    // Y_staging: 64 x 64, after everything else
    const auto Y_staging = shared_matrix<bf16, 64, 64>(memory, 0, "Y_staging");
    const int plane = int(blockIdx.x);
    const int band = plane / 1024 * 16;
    const int band_height = minimum(16, 64 - band);
    const int group_n = band + plane % 1024 % band_height;
    const int group_c = plane % 1024 / band_height;
    const int n0 = group_n * 64;
    const int c0 = group_c * 64;
    using Rows = Fragment<2, 1>;
    const int warp_n = warp_index() / 2 * 32;  // first row of this warp
    const int warp_c = warp_index() % 2 * 32;  // and its first column

    // N_sum[n] = 0
    float N_sum[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        N_sum[i] = 0.0f;
    }

    // Y_sum[n, c] = 0
    Fragment<2, 4> Y_sum;  // c of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            Y_sum(i, j) = 0.0f;
        }
    }

    // chunks of d
    const auto load_d = [&](int d0, int stage) {
        copy_async<8>(X_tile(stage), X, n0 * 4096 + d0, 4096, 64, 64, threadIdx.x, kThreads);
        copy_async<8>(W_tile(stage), W, c0 * 4096 + d0, 4096, 64, 64, threadIdx.x, kThreads);
    };
    const auto chunk_d = [&](int d0, int stage) NK_INLINE {
#pragma unroll
        // N_sum[n] = N_sum[n] + sum(d) X[n, d] * X[n, d]
        for (int i = 0; i < Rows::rows; ++i) {
            const int in = warp_n + Rows::row(i);
            float acc = 0.0f;
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                const int id = Fragment<2, 8>::column(j);
                const float t0 = to_f32(X_tile(stage)(in, id));
                acc = acc + t0 * to_f32(X_tile(stage)(in, id));
            }
            acc = row_sum<Rows>(acc);
            N_sum[i] = N_sum[i] + acc;
        }

        // Y_factor[n, d] = X[n, d] * gain[d]
        Fragment<2, 8> Y_factor;  // d of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const int in = warp_n + Rows::row(i);
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                const int id = Fragment<2, 8>::column(j);
                const float t0 = to_f32(X_tile(stage)(in, id));
                Y_factor(i, j) = t0 * to_f32(gain[d0 + id]);
            }
        }

        // Y_sum[n, c] = Y_sum[n, c] + sum(d) Y_factor[n, d] * W[c, d]
        const auto Y_factor_left = as_left<bf16>(Y_factor);  // rounded to bf16
        multiply<Order::Transposed>(Y_sum, Y_factor_left, W_tile(stage), 0, warp_c);
    };
    int d_ahead = 0;  // the next chunk to load
    for (int stage = 0; stage < 1; ++stage) {
        if (d_ahead < 4096) {
            load_d(d_ahead, stage);
        }
        commit_copies();
        d_ahead += 64;
    }
    int stage = 0;
    for (int d0 = 0; d0 < 4096; d0 += 64) {
        wait_copies<0>();
        block_barrier();
        if (d_ahead < 4096) {
            load_d(d_ahead, (stage + 1) % 2);
        }
        commit_copies();
        d_ahead += 64;
        chunk_d(d0, stage);
        stage = (stage + 1) % 2;
    }

    // Y[n, c] = Y_sum[n, c] / sqrt(N_sum[n] / size(d) + eps)
    Fragment<2, 4> Y_part;  // c of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const float r0 = divide(1.0f, sqrtf(N_sum[i] / 4096.0f + eps));
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            Y_part(i, j) = multiply(Y_sum(i, j), r0);
        }
    }

    // save Y
    block_barrier();
    store(Y_part, Y_staging, warp_n, warp_c);
    block_barrier();
    save_matrix<8>(Y_staging, 0, 64, Y, n0 * 4096 + c0, 4096, 64, 64, threadIdx.x, kThreads);
}

}  // namespace nk
