// Diagram rmsnorm_linear, region Y.
//   Y[n = 4096, c = 4096] : bf16
// Derivation:
//   fuse all
//   group n by 64
//   group c by 64
//   stream d by 64
// Target sm_80, for sm_90.
// Schedule:
//   [Y]
//   warps = 4
//   warps_down = 2
//   warps_across = 2
//   stages = { W = 5, X = 4 }
//   leads."compute N_sum" = 1
//   leads."fetch the first operands of Y_sum" = 0
//   leads."publish Y_factor" = 1
//   fetched = { Y_sum = true }
//   staged = { Y = true }
// 90112 bytes of shared memory
// chunks of 64 of d: 352 clocks each, 0.73 of the bound of the tensor core
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    rmsnorm_linear_Y(Global<const bf16> X, Global<const bf16> gain, Global<const bf16> W,
                     Global<bf16> Y, float eps) {
    // Shared memory: 90112 bytes.
    NK_SHARED_MEMORY(memory);
    // X_tile: 64 x 64, 4 stages
    const auto X_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 64>(memory, stage * 8192, "X_tile");
    };
    // W_tile: 64 x 64, 5 stages
    const auto W_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 64>(memory, 32768 + stage * 8192, "W_tile");
    };
    // Y_factor_tile: 64 x 64, 2 stages
    const auto Y_factor_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 64>(memory, 73728 + stage * 8192, "Y_factor_tile");
    };
    // Y_staging: 64 x 64
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
    int d_next = 0;
    int d_ahead = 0;  // the next chunk to load
    const auto load_d = [&](int d0, int slot_2, int stage, int slot) {
        copy_async<8>(X_tile(stage), X, n0 * 4096 + d0, 4096, 64, 64, threadIdx.x, kThreads);
        copy_async<8>(W_tile(slot), W, c0 * 4096 + d0, 4096, 64, 64, threadIdx.x, kThreads);
    };
    const auto publish_d = [&](int d0, int slot_2, int stage, int slot) NK_INLINE {
        // Y_factor[n, d] = X[n, d] * gain[d]
        const auto values_at_once = [&](int in, int id_first, auto& values) {
            const auto v = values_of<8>(X_tile(stage), in, id_first);
            const auto v_2 = values_at<8, 8>(gain, d0 + id_first, 8);
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                values[j] = v[j] * v_2[j];
            }
        };
        publish(Y_factor_tile(slot_2), threadIdx.x, kThreads, values_at_once);
    };
    const auto publish_d_2 = [&](int d0, int slot_2, int stage, int slot) NK_INLINE {
#pragma unroll
        // N_sum[n] = N_sum[n] + sum(d) X[n, d] * X[n, d]
        for (int i = 0; i < Rows::rows; ++i) {
            const int in = warp_n + Rows::row(i);
            float acc = 0.0f;
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                const int id = Fragment<2, 8>::column(j);
                const float t0 = element_of(X_tile(stage), in, id);
                acc = acc + t0 * element_of(X_tile(stage), in, id);
            }
            N_sum[i] = N_sum[i] + acc;
        }
    };
    const auto chunk_d = [&](int d0, int slot_2, int stage, int slot, auto more) NK_INLINE {
        Operands<bf16, 2, 4> operands;
        fetch_first<Order::AsStored, Order::Transposed, 64>(operands, Y_factor_tile(slot_2), warp_n,
                                                            W_tile(slot), warp_c);
        if (more.value) {
            publish_d_2(d_next, (slot_2 + 1) % 2, (stage + 1) % 4, (slot + 1) % 5);
        }

        // Y_sum[n, c] = Y_sum[n, c] + sum(d) Y_factor[n, d] * W[c, d]
        multiply_head<Order::AsStored, Order::Transposed, 64>(
            Y_sum, operands, Y_factor_tile(slot_2), warp_n, W_tile(slot), warp_c);
        multiply_tail(Y_sum, operands);
    };
    for (int slot = 0; slot < 3; ++slot) {
        if (d_ahead < 4096) {
            load_d(d_ahead, slot % 2, slot, slot);
        }
        commit_copies();
        d_ahead += 64;
    }
    wait_copies<2>();
    block_barrier();
    if (d_ahead < 4096) {
        load_d(d_ahead, 1, 3, 3);
    }
    commit_copies();
    if (d_next < 4096) {
        publish_d(d_next, 0, 0, 0);
    }
    if (d_next < 4096) {
        publish_d_2(d_next, 0, 0, 0);
    }
    d_next += 64;
    d_ahead += 64;
    int slot_2 = 0;
    int stage = 0;
    int slot = 0;
    int d0 = 0;
    if (d_next < 4096) {
        do {
            wait_copies<2>();
            block_barrier();
            if (d_ahead < 4096) {
                load_d(d_ahead, slot_2, stage, (slot + 4) % 5);
            }
            commit_copies();
            publish_d(d_next, (slot_2 + 1) % 2, (stage + 1) % 4, (slot + 1) % 5);
            chunk_d(d0, slot_2, stage, slot, Flag<true>());
            d_next += 64;
            d_ahead += 64;
            slot_2 = (slot_2 + 1) % 2;
            stage = (stage + 1) % 4;
            slot = (slot + 1) % 5;
            d0 += 64;
        } while (d_next < 4096);
    }
    if (d0 < 4096) {
        wait_copies<2>();
        block_barrier();
        commit_copies();
        chunk_d(d0, slot_2, stage, slot, Flag<false>());
    }

    // N_sum of all lanes of a row
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        N_sum[i] = row_sum<Rows>(N_sum[i]);
    }

    // Y[n, c] = Y_sum[n, c] / sqrt(N_sum[n] / size(d) + eps)
    Fragment<2, 4> Y_part;  // c of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const float r0 = divide_fast(1.0f, sqrtf(N_sum[i] * 0.00024414062f + eps));
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            Y_part(i, j) = multiply(Y_sum(i, j), r0);
        }
    }

    // save Y
    store(Y_part, Y_staging, warp_n, warp_c);
    block_barrier();
    save_matrix<8>(Y_staging, 0, 64, Y, n0 * 4096 + c0, 4096, 64, 64, threadIdx.x, kThreads);
}

}  // namespace nk
