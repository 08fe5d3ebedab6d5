// Diagram matmul_epilogue, region Z.
//   Z[m = 4096, n = 4096] : bf16
// Derivation:
//   fuse all
//   group m by 128
//   group n by 128
//   stream k by 64
// Target sm_80, for sm_90.
// Schedule:
//   [Z]
//   warps = 4
//   warps_down = 2
//   warps_across = 2
//   stages = { W = 3, X = 2 }
//   leads = { "fetch the first operands of Y_sum" = 0, "publish Y_sum_left" = 1 }
//   fetched = { Y_sum = true }
//   staged = { Z = true }
// 114688 bytes of shared memory
// chunks of 64 of k: 1280 clocks each, 0.80 of the bound of the tensor core
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    matmul_epilogue_Z(Global<const bf16> X, Global<const bf16> shift, Global<const bf16> W,
                      Global<const bf16> bias, Global<const bf16> R, Global<bf16> Z) {
    // Shared memory: 114688 bytes.
    NK_SHARED_MEMORY(memory);
    // X_tile: 128 x 64, 2 stages
    const auto X_tile = [&](int stage) {
        return shared_matrix<bf16, 128, 64>(memory, stage * 16384, "X_tile");
    };
    // W_tile: 128 x 64, 3 stages
    const auto W_tile = [&](int stage) {
        return shared_matrix<bf16, 128, 64>(memory, 32768 + stage * 16384, "W_tile");
    };
    // Y_sum_left_tile: 128 x 64, 2 stages
    const auto Y_sum_left_tile = [&](int stage) {
        return shared_matrix<bf16, 128, 64>(memory, 81920 + stage * 16384, "Y_sum_left_tile");
    };
    // Z_staging: 128 x 128
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
    int k_next = 0;
    int k_ahead = 0;  // the next chunk to load
    const auto load_k = [&](int k_0, int stage, int slot) {
        copy_async<8>(X_tile(stage), X, m0 * 4096 + k_0, 4096, 128, 64, threadIdx.x, kThreads);
        copy_async<8>(W_tile(slot), W, n0 * 4096 + k_0, 4096, 128, 64, threadIdx.x, kThreads);
    };
    const auto publish_k = [&](int k_0, int stage, int slot) NK_INLINE {
        // left operand of Y_sum: max(X[m, k] + shift[k], 0)
        const auto values_at_once = [&](int im, int ik_first, auto& values) {
            const auto v = values_of<8>(X_tile(stage), im, ik_first);
            const auto v_2 = values_at<8, 8>(shift, k_0 + ik_first, 8);
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                values[j] = maximum(v[j] + v_2[j], 0.0f);
            }
        };
        publish(Y_sum_left_tile(stage), threadIdx.x, kThreads, values_at_once);
    };
    const auto chunk_k = [&](int k_0, int stage, int slot, auto more) NK_INLINE {
        Operands<bf16, 4, 8> operands;
        fetch_first<Order::AsStored, Order::Transposed, 64>(operands, Y_sum_left_tile(stage),
                                                            warp_m, W_tile(slot), warp_n);
        if (more.value) {
            publish_k(k_next, (stage + 1) % 2, (slot + 1) % 3);
        }

        // Y_sum[m, n] = Y_sum[m, n] + sum(k) max(X[m, k] + shift[k], 0) * W[n, k]
        multiply_head<Order::AsStored, Order::Transposed, 64>(
            Y_sum, operands, Y_sum_left_tile(stage), warp_m, W_tile(slot), warp_n);
        multiply_tail(Y_sum, operands);
    };
    for (int slot = 0; slot < 1; ++slot) {
        if (k_ahead < 4096) {
            load_k(k_ahead, slot, slot);
        }
        commit_copies();
        k_ahead += 64;
    }
    wait_copies<0>();
    block_barrier();
    if (k_ahead < 4096) {
        load_k(k_ahead, 1, 1);
    }
    commit_copies();
    if (k_next < 4096) {
        publish_k(k_next, 0, 0);
    }
    k_next += 64;
    k_ahead += 64;
    int stage = 0;
    int slot = 0;
    int k_0 = 0;
    if (k_next < 4096) {
        do {
            wait_copies<0>();
            block_barrier();
            if (k_ahead < 4096) {
                load_k(k_ahead, stage, (slot + 2) % 3);
            }
            commit_copies();
            chunk_k(k_0, stage, slot, Flag<true>());
            k_next += 64;
            k_ahead += 64;
            stage = (stage + 1) % 2;
            slot = (slot + 1) % 3;
            k_0 += 64;
        } while (k_next < 4096);
    }
    if (k_0 < 4096) {
        wait_copies<0>();
        block_barrier();
        commit_copies();
        chunk_k(k_0, stage, slot, Flag<false>());
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
    save_matrix<8>(Z_staging, 0, 128, Z, m0 * 4096 + n0, 4096, 128, 128, threadIdx.x, kThreads);
}

}  // namespace nk
