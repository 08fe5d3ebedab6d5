// Diagram matmul_f32, region Y.
//   Y[a = 4096, c = 4096] : f32
// Derivation:
//   group a by 128
//   group c by 128
//   stream b by 16
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
// 65536 bytes of shared memory
// chunks of 16 of b: 1536 clocks each, 1.00 of the bound of the tensor core
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    matmul_f32_Y(Global<const float> X, Global<const float> W, Global<float> Y) {
    // Shared memory: 65536 bytes.
    NK_SHARED_MEMORY(memory);
    // X_tile: 128 x 16, 4 stages
    const auto X_tile = [&](int stage) {
        return shared_matrix<float, 128, 16>(memory, stage * 8192, "X_tile");
    };
    // W_tile: 128 x 16, 4 stages
    const auto W_tile = [&](int stage) {
        return shared_matrix<float, 128, 16>(memory, 32768 + stage * 8192, "W_tile");
    };
    // Y_staging: 128 x 128
    const auto Y_staging = shared_matrix<float, 128, 128>(memory, 0, "Y_staging");
    const int plane = int(blockIdx.x);
    const int band = plane / 512 * 16;
    const int band_height = minimum(16, 32 - band);
    const int group_a = band + plane % 512 % band_height;
    const int group_c = plane % 512 / band_height;
    const int a0 = group_a * 128;
    const int c0 = group_c * 128;
    using Rows = Fragment<4, 1>;
    const int warp_a = warp_index() / 2 * 64;  // first row of this warp
    const int warp_c = warp_index() % 2 * 64;  // and its first column

    // Y_sum[a, c] = 0
    Fragment<4, 8> Y_sum;  // c of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            Y_sum(i, j) = 0.0f;
        }
    }

    // chunks of b
    int b_next = 0;
    int b_ahead = 0;  // the next chunk to load
    const auto load_b = [&](int b0, int stage) {
        copy_async<4>(X_tile(stage), X, a0 * 4096 + b0, 4096, 128, 16, threadIdx.x, kThreads);
        copy_async<4>(W_tile(stage), W, c0 * 4096 + b0, 4096, 128, 16, threadIdx.x, kThreads);
    };
    Operands<f32_parts, 4, 8> operands;
    const auto fetch_b = [&](int b0, int stage) NK_INLINE {
        fetch_first<Order::AsStored, Order::Transposed, 16>(
            operands, in_parts(X_tile(stage)), warp_a, in_parts(W_tile(stage)), warp_c);
    };
    const auto chunk_b = [&](int b0, int stage, auto more) NK_INLINE {
        // Y_sum[a, c] = Y_sum[a, c] + sum(b) X[a, b] * W[c, b]
        multiply_head<Order::AsStored, Order::Transposed, 16>(
            Y_sum, operands, in_parts(X_tile(stage)), warp_a, in_parts(W_tile(stage)), warp_c);
        wait_copies<2>();
        block_barrier();
        if (more.value) {
            fetch_b(b_next, (stage + 1) % 4);
        }
        multiply_tail(Y_sum, operands);
    };
    for (int stage = 0; stage < 2; ++stage) {
        if (b_ahead < 4096) {
            load_b(b_ahead, stage);
        }
        commit_copies();
        b_ahead += 16;
    }
    if (b_ahead < 4096) {
        load_b(b_ahead, 2);
    }
    commit_copies();
    wait_copies<2>();
    block_barrier();
    if (b_next < 4096) {
        fetch_b(b_next, 0);
    }
    b_next += 16;
    b_ahead += 16;
    int stage = 0;
    int b0 = 0;
    if (b_next < 4096) {
        do {
            if (b_ahead < 4096) {
                load_b(b_ahead, (stage + 3) % 4);
            }
            commit_copies();
            chunk_b(b0, stage, Flag<true>());
            b_next += 16;
            b_ahead += 16;
            stage = (stage + 1) % 4;
            b0 += 16;
        } while (b_next < 4096);
    }
    if (b0 < 4096) {
        commit_copies();
        chunk_b(b0, stage, Flag<false>());
    }

    // Y[a, c] = Y_sum[a, c]
    Fragment<4, 8> Y_part;  // c of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            Y_part(i, j) = Y_sum(i, j);
        }
    }

    // save Y
    store(Y_part, Y_staging, warp_a, warp_c);
    block_barrier();
    save_matrix<4>(Y_staging, 0, 128, Y, a0 * 4096 + c0, 4096, 128, 128, threadIdx.x, kThreads);
}

}  // namespace nk
