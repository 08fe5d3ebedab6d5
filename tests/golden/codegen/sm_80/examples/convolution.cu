// Diagram convolution, region Y.
//   Y[b = 32, y = 56, x = 56, c = 64] : bf16
// Derivation:
//   group y by 8
//   group x by 8
//   group c by 32
//   stream k by 16
// Target sm_80, for sm_90.
// Schedule:
//   [Y]
//   warps = 4
//   warps_down = 2
//   warps_across = 2
//   stages = { W = 4, X = 4 }
//   leads = { "fetch the first operands of Y_sum" = 1 }
//   fetched = { Y_sum = true }
//   staged = { Y = true }
// 110592 bytes of shared memory
// chunks of 16 of k: 288 clocks each, 1.00 of the bound of the tensor core
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    convolution_Y(Global<const bf16> W, Global<const bf16> X, Global<bf16> Y, i64 X_stride_b,
                  i64 Y_stride_b) {
    // Shared memory: 110592 bytes.
    NK_SHARED_MEMORY(memory);
    // W_tile: 32 x 144, 4 stages
    const auto W_tile = [&](int stage) {
        return shared_matrix<bf16, 32, 144>(memory, stage * 9216, "W_tile");
    };
    // X_tile: 64 x 144, 4 stages
    const auto X_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 144>(memory, 36864 + stage * 18432, "X_tile");
    };
    // Y_staging: 64 x 32
    const auto Y_staging = shared_matrix<bf16, 64, 32>(memory, 0, "Y_staging");
    const int group_c = int(blockIdx.x) % 2;
    const int group_2 = int(blockIdx.x) / 2;
    const int group_x = group_2 % 7;
    const int group_3 = group_2 / 7;
    const int group_y = group_3 % 7;
    const int group_4 = group_3 / 7;
    const int b0 = group_4;
    const int y0 = group_y * 8;
    const int x0 = group_x * 8;
    const int c0 = group_c * 32;
    using Rows = Fragment<2, 1>;
    const int warp_y_x = warp_index() / 2 * 32;  // first row of this warp
    // and its first column
    const int warp_c = warp_index() % 2 * 16;

    // Y_sum[b, y_x, c] = 0
    Fragment<2, 2> Y_sum;  // c of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            Y_sum(i, j) = 0.0f;
        }
    }

    // chunks of k
    int k_next = 0;
    int k_ahead = 0;  // the next chunk to load
    const auto load_k = [&](int k_0, int stage) {
        copy_pieces<8>(W_tile(stage), W, threadIdx.x, kThreads, [&](int ic, int ir_s_k) {
            const int ir = ir_s_k / 48;
            const int is = ir_s_k / 16 % 3;
            const int ik = ir_s_k % 16;
            const int at = c0 * 576 + ic * 576 + ir * 192 + is * 64 + k_0 + ik;
            return piece(at, 8);
        });
        copy_pieces<8>(X_tile(stage), X, threadIdx.x, kThreads, [&](int iy_x, int ir_s_k) {
            const int iy = iy_x / 8;
            const int ix = iy_x % 8;
            const int ir = ir_s_k / 48;
            const int is = ir_s_k / 16 % 3;
            const int ik = ir_s_k % 16;
            const i64 at = b0 * X_stride_b + y0 * 3584 + iy * 3584 + ir * 3584 + x0 * 64 + ix * 64 +
                           is * 64 + k_0 + ik - 3648;
            const bool there = 0 <= y0 + iy + ir - 1 && y0 + iy + ir - 1 < 56 &&
                               0 <= x0 + ix + is - 1 && x0 + ix + is - 1 < 56;
            return piece(at, there ? 8 : 0);
        });
    };
    Operands<bf16, 2, 2> operands;
    const auto fetch_k = [&](int k_0, int stage) NK_INLINE {
        fetch_first<Order::AsStored, Order::Transposed, 144>(operands, X_tile(stage), warp_y_x,
                                                             W_tile(stage), warp_c);
    };
    const auto chunk_k = [&](int k_0, int stage, auto more) NK_INLINE {
        // Y_sum[b, y_x, c] = Y_sum[b, y_x, c] + sum(r_s_k) W[c, r_s_k] * (if 0 <= y + r - size(r)
        // // 2 and y + r - size(r) // 2 < size(y) and 0 <= x + s - size(s) // 2 and x + s - size(s)
        // // 2 < size(x) then X[b, y_x, r_s_k] else 0)
        multiply_head<Order::AsStored, Order::Transposed, 144>(Y_sum, operands, X_tile(stage),
                                                               warp_y_x, W_tile(stage), warp_c);
        wait_copies<2>();
        block_barrier();
        if (more.value) {
            fetch_k(k_next, (stage + 1) % 4);
        }
        multiply_tail(Y_sum, operands);
    };
    for (int stage = 0; stage < 2; ++stage) {
        if (k_ahead < 64) {
            load_k(k_ahead, stage);
        }
        commit_copies();
        k_ahead += 16;
    }
    if (k_ahead < 64) {
        load_k(k_ahead, 2);
    }
    commit_copies();
    wait_copies<2>();
    block_barrier();
    if (k_next < 64) {
        fetch_k(k_next, 0);
    }
    k_next += 16;
    k_ahead += 16;
    int stage = 0;
    int k_0 = 0;
    if (k_next < 64) {
        do {
            if (k_ahead < 64) {
                load_k(k_ahead, (stage + 3) % 4);
            }
            commit_copies();
            chunk_k(k_0, stage, Flag<true>());
            k_next += 16;
            k_ahead += 16;
            stage = (stage + 1) % 4;
            k_0 += 16;
        } while (k_next < 64);
    }
    if (k_0 < 64) {
        commit_copies();
        chunk_k(k_0, stage, Flag<false>());
    }

    // Y[b, y_x, c] = Y_sum[b, y_x, c]
    Fragment<2, 2> Y_part;  // c of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            Y_part(i, j) = Y_sum(i, j);
        }
    }

    // save Y
    store(Y_part, Y_staging, warp_y_x, warp_c);
    block_barrier();
    save_pieces<8>(Y_staging, Y, threadIdx.x, kThreads, [&](int iy_x, int ic) {
        const int iy = iy_x / 8;
        const int ix = iy_x % 8;
        const i64 at = b0 * Y_stride_b + y0 * 3584 + iy * 3584 + x0 * 64 + ix * 64 + c0 + ic;
        return piece(at, 8);
    });
}

}  // namespace nk
