// Diagram swiglu, region Y.
//   Y[n = 4096, f = 11008] : bf16
// Derivation:
//   fuse all
//   group n by 64
//   group f by 64
//   stream d by 32
// Target sm_80, for sm_90.
// Schedule:
//   [Y]
//   warps = 4
//   warps_down = 2
//   warps_across = 2
//   stages = { V = 4, W = 4, X = 4 }
//   leads."fetch the first operands of G_sum" = 0
//   leads."fetch the first operands of U_sum" = 1
//   fetched = { G_sum = true, U_sum = true }
//   staged = { Y = true }
// 49152 bytes of shared memory
// chunks of 32 of d: 256 clocks each, 1.00 of the bound of the tensor core
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    swiglu_Y(Global<const bf16> X, Global<const bf16> W, Global<const bf16> V, Global<bf16> Y) {
    // Shared memory: 49152 bytes.
    NK_SHARED_MEMORY(memory);
    // X_tile: 64 x 32, 4 stages
    const auto X_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 32>(memory, stage * 4096, "X_tile");
    };
    // W_tile: 64 x 32, 4 stages
    const auto W_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 32>(memory, 16384 + stage * 4096, "W_tile");
    };
    // V_tile: 64 x 32, 4 stages
    const auto V_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 32>(memory, 32768 + stage * 4096, "V_tile");
    };
    // Y_staging: 64 x 64
    const auto Y_staging = shared_matrix<bf16, 64, 64>(memory, 0, "Y_staging");
    const int plane = int(blockIdx.x);
    const int band = plane / 2752 * 16;
    const int band_height = minimum(16, 64 - band);
    const int group_n = band + plane % 2752 % band_height;
    const int group_f = plane % 2752 / band_height;
    const int n0 = group_n * 64;
    const int f_0 = group_f * 64;
    using Rows = Fragment<2, 1>;
    const int warp_n = warp_index() / 2 * 32;  // first row of this warp
    const int warp_f = warp_index() % 2 * 32;  // and its first column

    // G_sum[n, f] = 0
    Fragment<2, 4> G_sum;  // f of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            G_sum(i, j) = 0.0f;
        }
    }

    // U_sum[n, f] = 0
    Fragment<2, 4> U_sum;  // f of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            U_sum(i, j) = 0.0f;
        }
    }

    // chunks of d
    int d_next = 0;
    int d_ahead = 0;  // the next chunk to load
    const auto load_d = [&](int d0, int stage) {
        copy_async<8>(X_tile(stage), X, n0 * 4096 + d0, 4096, 64, 32, threadIdx.x, kThreads);
        copy_async<8>(W_tile(stage), W, f_0 * 4096 + d0, 4096, 64, 32, threadIdx.x, kThreads);
        copy_async<8>(V_tile(stage), V, f_0 * 4096 + d0, 4096, 64, 32, threadIdx.x, kThreads);
    };
    Operands<bf16, 2, 4> operands;
    const auto fetch_d = [&](int d0, int stage) NK_INLINE {
        fetch_first<Order::AsStored, Order::Transposed, 32>(operands, X_tile(stage), warp_n,
                                                            V_tile(stage), warp_f);
    };
    const auto chunk_d = [&](int d0, int stage, auto more) NK_INLINE {
        Operands<bf16, 2, 4> operands_2;
        fetch_first<Order::AsStored, Order::Transposed, 32>(operands_2, X_tile(stage), warp_n,
                                                            W_tile(stage), warp_f);

        // U_sum[n, f] = U_sum[n, f] + sum(d) X[n, d] * V[f, d]
        multiply_head<Order::AsStored, Order::Transposed, 32>(U_sum, operands, X_tile(stage),
                                                              warp_n, V_tile(stage), warp_f);

        // G_sum[n, f] = G_sum[n, f] + sum(d) X[n, d] * W[f, d]
        multiply_head<Order::AsStored, Order::Transposed, 32>(G_sum, operands_2, X_tile(stage),
                                                              warp_n, W_tile(stage), warp_f);
        wait_copies<2>();
        block_barrier();
        if (more.value) {
            fetch_d(d_next, (stage + 1) % 4);
        }
        multiply_tail(G_sum, operands_2);
        multiply_tail(U_sum, operands);
    };
    for (int stage = 0; stage < 2; ++stage) {
        if (d_ahead < 4096) {
            load_d(d_ahead, stage);
        }
        commit_copies();
        d_ahead += 32;
    }
    if (d_ahead < 4096) {
        load_d(d_ahead, 2);
    }
    commit_copies();
    wait_copies<2>();
    block_barrier();
    if (d_next < 4096) {
        fetch_d(d_next, 0);
    }
    d_next += 32;
    d_ahead += 32;
    int stage = 0;
    int d0 = 0;
    if (d_next < 4096) {
        do {
            if (d_ahead < 4096) {
                load_d(d_ahead, (stage + 3) % 4);
            }
            commit_copies();
            chunk_d(d0, stage, Flag<true>());
            d_next += 32;
            d_ahead += 32;
            stage = (stage + 1) % 4;
            d0 += 32;
        } while (d_next < 4096);
    }
    if (d0 < 4096) {
        commit_copies();
        chunk_d(d0, stage, Flag<false>());
    }

    // Y[n, f] = exp(-guard(max(0.0, -G_sum[n, f]))) * G_sum[n, f] * U_sum[n, f] /
    // (exp(-guard(max(0.0, -G_sum[n, f]))) + exp(-G_sum[n, f] - guard(max(0.0, -G_sum[n, f]))))
    Fragment<2, 4> Y_part;  // f of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            const float t0 = guard(maximum(0.0f, -G_sum(i, j)) * 1.442695f);
            const float t1 = guard(maximum(0.0f, -G_sum(i, j)) * 1.442695f);
            const float t2 = guard(maximum(0.0f, -G_sum(i, j)));
            const float t3 = exp2_gradual((-G_sum(i, j) - t2) * 1.442695f);
            const float t4 = exp2_gradual(-t0) * G_sum(i, j) * U_sum(i, j);
            Y_part(i, j) = divide_fast(t4, exp2_gradual(-t1) + t3);
        }
    }

    // save Y
    store(Y_part, Y_staging, warp_n, warp_f);
    block_barrier();
    save_matrix<8>(Y_staging, 0, 64, Y, n0 * 11008 + f_0, 11008, 64, 64, threadIdx.x, kThreads);
}

}  // namespace nk
