// Diagram convolution_valid, region Y.
//   Y[b = 32, y = 54, x = 54, c = 256] : bf16
// Derivation:
//   group y by 1
//   group x by 64
//   group c by 128
//   stream r by 1
//   stream s by 1
//   stream k by 32
// Target sm_80, for sm_90.
// Schedule:
//   [Y]
//   warps = 4
//   warps_down = 1
//   warps_across = 4
//   stages = { W = 4, X = 4 }
//   leads = { "fetch the first operands of Y_sum" = 1 }
//   fetched = { Y_sum = true }
//   staged = { Y = true }
// 49152 bytes of shared memory
// chunks of 1 of r
// chunks of 1 of s
// chunks of 32 of k: 256 clocks each, 1.00 of the bound of the tensor core
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    convolution_valid_Y(Global<const bf16> X, Global<const bf16> W, Global<bf16> Y, i64 X_stride_b,
                        i64 Y_stride_b) {
    // Shared memory: 49152 bytes.
    NK_SHARED_MEMORY(memory);
    // X_tile: 64 x 32, 4 stages
    const auto X_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 32>(memory, stage * 4096, "X_tile");
    };
    // W_tile: 32 x 128, 4 stages
    const auto W_tile = [&](int stage) {
        return shared_matrix<bf16, 32, 128>(memory, 16384 + stage * 8192, "W_tile");
    };
    // Y_staging: 64 x 128
    const auto Y_staging = shared_matrix<bf16, 64, 128>(memory, 0, "Y_staging");
    const int group_c = int(blockIdx.x) % 2;
    const int group_2 = int(blockIdx.x) / 2;
    const int group_y = group_2 % 54;
    const int group_3 = group_2 / 54;
    const int b0 = group_3;
    const int y0 = group_y;
    const int c0 = group_c * 128;
    using Rows = Fragment<4, 1>;
    const int warp_x = warp_index() / 4 * 64;  // first row of this warp
    const int warp_c = warp_index() % 4 * 32;  // and its first column

    // Y_sum[b, y, x, c] = 0
    Fragment<4, 4> Y_sum;  // c of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            Y_sum(i, j) = 0.0f;
        }
    }

    // chunks of r
    const auto chunk_r = [&](int r_0) NK_INLINE {
        // chunks of s
        const auto chunk_s = [&](int s0) NK_INLINE {
            // chunks of k
            int k_next = 0;
            int k_ahead = 0;  // the next chunk to load
            const auto load_k = [&](int k_0, int stage) {
                copy_async<8>(X_tile(stage), X,
                              b0 * X_stride_b + y0 * 14336 + r_0 * 14336 + s0 * 256 + k_0, 256,
                              minimum(54, 56 - s0), 32, threadIdx.x, kThreads);
                copy_async<8>(W_tile(stage), W, r_0 * 196608 + s0 * 65536 + k_0 * 256 + c0, 256, 32,
                              128, threadIdx.x, kThreads);
            };
            Operands<bf16, 4, 4> operands;
            const auto fetch_k = [&](int k_0, int stage) NK_INLINE {
                fetch_first<Order::AsStored, Order::AsStored, 32>(operands, X_tile(stage), warp_x,
                                                                  W_tile(stage), warp_c);
            };
            const auto chunk_k = [&](int k_0, int stage, auto more) NK_INLINE {
                // Y_sum[b, y, x, c] = Y_sum[b, y, x, c] + sum(r, s, k) X[b, r, x, k] * W[r, s, k,
                // c]
                multiply_head<Order::AsStored, Order::AsStored, 32>(Y_sum, operands, X_tile(stage),
                                                                    warp_x, W_tile(stage), warp_c);
                wait_copies<2>();
                block_barrier();
                if (more.value) {
                    fetch_k(k_next, (stage + 1) % 4);
                }
                multiply_tail(Y_sum, operands);
            };
            for (int stage = 0; stage < 2; ++stage) {
                if (k_ahead < 256) {
                    load_k(k_ahead, stage);
                }
                commit_copies();
                k_ahead += 32;
            }
            if (k_ahead < 256) {
                load_k(k_ahead, 2);
            }
            commit_copies();
            wait_copies<2>();
            block_barrier();
            if (k_next < 256) {
                fetch_k(k_next, 0);
            }
            k_next += 32;
            k_ahead += 32;
            int stage = 0;
            int k_0 = 0;
            if (k_next < 256) {
                do {
                    if (k_ahead < 256) {
                        load_k(k_ahead, (stage + 3) % 4);
                    }
                    commit_copies();
                    chunk_k(k_0, stage, Flag<true>());
                    k_next += 32;
                    k_ahead += 32;
                    stage = (stage + 1) % 4;
                    k_0 += 32;
                } while (k_next < 256);
            }
            if (k_0 < 256) {
                commit_copies();
                chunk_k(k_0, stage, Flag<false>());
            }
        };
        for (int s0 = 0; s0 < 3; ++s0) {
            chunk_s(s0);
        }
    };
    for (int r_0 = 0; r_0 < 3; ++r_0) {
        chunk_r(r_0);
    }

    // Y[b, y, x, c] = Y_sum[b, y, x, c]
    Fragment<4, 4> Y_part;  // c of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            Y_part(i, j) = Y_sum(i, j);
        }
    }

    // save Y
    store(Y_part, Y_staging, warp_x, warp_c);
    block_barrier();
    save_matrix<8>(Y_staging, 0, 64, Y, b0 * Y_stride_b + y0 * 13824 + c0, 256, 54, 128,
                   threadIdx.x, kThreads);
}

}  // namespace nk
