// Diagram matmul_epilogue, region Z.
//   Z[m = 4096, n = 4096] : bf16
// Derivation:
//   fuse all
//   group m by 64
//   group n by 64
//   stream k by 32
// Target sm_80, for sm_90.
// Schedule:
//   [Z]
//   warps = 4
//   warps_down = 2
//   warps_across = 2
//   stages = { W = 5, X = 4 }
//   leads = { "fetch the first operands of Y_sum" = 0, "publish Y_sum_left" = 1 }
//   fetched = { Y_sum = true }
//   staged = { Z = true }
// 45056 bytes of shared memory
// chunks of 32 of k: 192 clocks each, 0.81 of the bound of a recurrence
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    matmul_epilogue_Z(Global<const bf16> X, Global<const bf16> shift, Global<const bf16> W,
                      Global<const bf16> bias, Global<const bf16> R, Global<bf16> Z) {
    // Shared memory: 45056 bytes.
    NK_SHARED_MEMORY(memory);
    // X_tile: 64 x 32, 4 stages
    const auto X_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 32>(memory, stage * 4096, "X_tile");
    };
    // W_tile: 64 x 32, 5 stages
    const auto W_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 32>(memory, 16384 + stage * 4096, "W_tile");
    };
    // Y_sum_left_tile: 64 x 32, 2 stages
    const auto Y_sum_left_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 32>(memory, 36864 + stage * 4096, "Y_sum_left_tile");
    };
    // Z_staging: 64 x 64
    const auto Z_staging = shared_matrix<bf16, 64, 64>(memory, 0, "Z_staging");
    const int plane = int(blockIdx.x);
    const int band = plane / 1024 * 16;
    const int band_height = minimum(16, 64 - band);
    const int group_m = band + plane % 1024 % band_height;
    const int group_n = plane % 1024 / band_height;
    const int m0 = group_m * 64;
    const int n0 = group_n * 64;
    using Rows = Fragment<2, 1>;
    const int warp_m = warp_index() / 2 * 32;  // first row of this warp
    const int warp_n = warp_index() % 2 * 32;  // and its first column

    // Y_sum[m, n] = 0
    Fragment<2, 4> Y_sum;  // n of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            Y_sum(i, j) = 0.0f;
        }
    }

    // chunks of k
    int k_next = 0;
    int k_ahead = 0;  // the next chunk to load
    const auto load_k = [&](int k_0, int slot_2, int stage, int slot) {
        copy_async<8>(X_tile(stage), X, m0 * 4096 + k_0, 4096, 64, 32, threadIdx.x, kThreads);
        copy_async<8>(W_tile(slot), W, n0 * 4096 + k_0, 4096, 64, 32, threadIdx.x, kThreads);
    };
    const auto publish_k = [&](int k_0, int slot_2, int stage, int slot) NK_INLINE {
        // left operand of Y_sum: max(X[m, k] + shift[k], 0)
        const auto values_at_once = [&](int im, int ik_first, auto& values) {
            const auto v = values_of<8>(X_tile(stage), im, ik_first);
            const auto v_2 = values_at<8, 8>(shift, k_0 + ik_first, 8);
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                values[j] = maximum(v[j] + v_2[j], 0.0f);
            }
        };
        publish(Y_sum_left_tile(slot_2), threadIdx.x, kThreads, values_at_once);
    };
    const auto chunk_k = [&](int k_0, int slot_2, int stage, int slot, auto more) NK_INLINE {
        Operands<bf16, 2, 4> operands;
        fetch_first<Order::AsStored, Order::Transposed, 32>(operands, Y_sum_left_tile(slot_2),
                                                            warp_m, W_tile(slot), warp_n);
        if (more.value) {
            publish_k(k_next, (slot_2 + 1) % 2, (stage + 1) % 4, (slot + 1) % 5);
        }

        // Y_sum[m, n] = Y_sum[m, n] + sum(k) max(X[m, k] + shift[k], 0) * W[n, k]
        multiply_head<Order::AsStored, Order::Transposed, 32>(
            Y_sum, operands, Y_sum_left_tile(slot_2), warp_m, W_tile(slot), warp_n);
        multiply_tail(Y_sum, operands);
    };
    for (int slot = 0; slot < 3; ++slot) {
        if (k_ahead < 4096) {
            load_k(k_ahead, slot % 2, slot, slot);
        }
        commit_copies();
        k_ahead += 32;
    }
    wait_copies<2>();
    block_barrier();
    if (k_ahead < 4096) {
        load_k(k_ahead, 1, 3, 3);
    }
    commit_copies();
    if (k_next < 4096) {
        publish_k(k_next, 0, 0, 0);
    }
    k_next += 32;
    k_ahead += 32;
    int slot_2 = 0;
    int stage = 0;
    int slot = 0;
    int k_0 = 0;
    if (k_next < 4096) {
        do {
            wait_copies<2>();
            block_barrier();
            if (k_ahead < 4096) {
                load_k(k_ahead, slot_2, stage, (slot + 4) % 5);
            }
            commit_copies();
            chunk_k(k_0, slot_2, stage, slot, Flag<true>());
            k_next += 32;
            k_ahead += 32;
            slot_2 = (slot_2 + 1) % 2;
            stage = (stage + 1) % 4;
            slot = (slot + 1) % 5;
            k_0 += 32;
        } while (k_next < 4096);
    }
    if (k_0 < 4096) {
        wait_copies<2>();
        block_barrier();
        commit_copies();
        chunk_k(k_0, slot_2, stage, slot, Flag<false>());
    }

    // Z[m, n] = 0.5 * (Y_sum[m, n] + bias[n]) * (1 + erf((Y_sum[m, n] + bias[n]) * rsqrt(2))) +
    // R[m, n]
    Fragment<2, 4> Z_part;  // n of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int im = warp_m + Rows::row(i);
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            const int in = warp_n + Fragment<2, 4>::column(j);
            const float t0 = Y_sum(i, j) + element_of(bias, n0 + in, j % 2);
            const float t1 = Y_sum(i, j) + element_of(bias, n0 + in, j % 2);
            const float t3 = element_of(R, m0 * 4096 + im * 4096 + n0 + in, j % 2);
            const float t4 = 0.5f * t0 * (1.0f + erff(t1 * 0.70710677f));
            Z_part(i, j) = t4 + t3;
        }
    }

    // save Z
    store(Z_part, Z_staging, warp_m, warp_n);
    block_barrier();
    save_matrix<8>(Z_staging, 0, 64, Z, m0 * 4096 + n0, 4096, 64, 64, threadIdx.x, kThreads);
}

}  // namespace nk
