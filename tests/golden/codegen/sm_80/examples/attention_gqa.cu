// Diagram attention_gqa, region O.
//   O[b = 2, h = 8, g = 4, q = 1024, e = 64] : bf16
// Derivation:
//   fuse all
//   group q by 64
//   stream x by 64
// Target sm_80, for sm_90.
// Schedule:
//   [O]
//   warps = 2
//   warps_down = 2
//   warps_across = 1
//   stages = { K = 2, V = 2 }
//   staged = { O = true }
// 65536 bytes of shared memory
// chunks of 64 of x: 2176 clocks each, 0.71 of the bound of a recurrence
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 64;

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_gqa_O(Global<const bf16> Q, Global<const bf16> K, Global<const bf16> V,
                    Global<bf16> O, i64 Q_stride_b, i64 Q_stride_h, i64 Q_stride_g, i64 K_stride_b,
                    i64 K_stride_h, i64 V_stride_b, i64 V_stride_h, i64 O_stride_b, i64 O_stride_h,
                    i64 O_stride_g) {
    // Shared memory: 65536 bytes.
    NK_SHARED_MEMORY(memory);
    // Q_tile: 64 x 128
    const auto Q_tile = shared_matrix<bf16, 64, 128>(memory, 0, "Q_tile");
    // K_tile: 64 x 128, 2 stages
    const auto K_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 128>(memory, 16384 + stage * 16384, "K_tile");
    };
    // V_tile: 64 x 64, 2 stages
    const auto V_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 64>(memory, 49152 + stage * 8192, "V_tile");
    };
    // O_staging: 64 x 64
    const auto O_staging = shared_matrix<bf16, 64, 64>(memory, 0, "O_staging");
    const int group_q = int(blockIdx.x) % 16;
    const int group_2 = int(blockIdx.x) / 16;
    const int group_g = group_2 % 4;
    const int group_3 = group_2 / 4;
    const int group_h = group_3 % 8;
    const int group_4 = group_3 / 8;
    const int b0 = group_4;
    const int h0 = group_h;
    const int g0 = group_g;
    const int q0 = 960 - group_q * 64;
    using Rows = Fragment<2, 1>;
    const int warp_q = warp_index() * 32;  // first row of this warp

    // load Q
    copy_async<8>(Q_tile, Q, b0 * Q_stride_b + h0 * Q_stride_h + g0 * Q_stride_g + q0 * 128, 128,
                  64, 128, threadIdx.x, kThreads);
    commit_copies();

    // P_max[b, h, g, q] = -inf
    float P_max[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_max[i] = minus_infinity();
    }

    // P_sum[b, h, g, q] = 0
    float P_sum[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_sum[i] = 0.0f;
    }

    // O_sum[b, h, g, q, e] = 0
    Fragment<2, 8> O_sum;  // e of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            O_sum(i, j) = 0.0f;
        }
    }

    // chunks of x
    const int end_x = minimum(8192, q0 + 7232);
    int x_ahead = 0;  // the next chunk to load
    const auto load_x = [&](int x0, int stage) {
        copy_async<8>(K_tile(stage), K, b0 * K_stride_b + h0 * K_stride_h + x0 * 128, 128, 64, 128,
                      threadIdx.x, kThreads);
        copy_async<8>(V_tile(stage), V, b0 * V_stride_b + h0 * V_stride_h + x0 * 64, 64, 64, 64,
                      threadIdx.x, kThreads);
    };
    const auto whole_x = [&](int x0) { return x0 <= q0 + 7105; };
    const auto chunk_x = [&](int x0, int stage, auto tested) NK_INLINE {
        const bool kTested = tested.value;

        // S[b, h, g, q, x] = sum(d) Q[b, h, g, q, d] * K[b, h, x, d] * rsqrt(size(d))
        // kept without its factor 0.0883883
        Fragment<2, 8> S;  // x of this warp
        S.fill(0.0f);
        multiply<Order::AsStored, Order::Transposed, 128>(S, Q_tile, warp_q, K_tile(stage), 0);

        // M[b, h, g, q, x] = if x <= q + size(x) - size(q) then S[b, h, g, q, x] else -inf
        // kept without its factor 0.0883883
        Fragment<2, 8> M;  // x of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const int iq = warp_q + Rows::row(i);
            const int t0 = q0 + iq - x0 + 7168;
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                const int ix = Fragment<2, 8>::column(j);
                M(i, j) = !kTested || ix <= t0 ? S(i, j) : minus_infinity();
            }
        }

        // P_max_new[b, h, g, q] = max(P_max[b, h, g, q], max(x) M[b, h, g, q, x])
        float P_max_new[Rows::rows];
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            float acc = minus_infinity();
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                acc = maximum(acc, M(i, j));
            }
            acc = row_maximum<Rows>(acc);
            P_max_new[i] = maximum(P_max[i], acc * 0.088388346f);
        }

        // P_weight[b, h, g, q, x] = exp(M[b, h, g, q, x] - guard(P_max_new[b, h, g, q]))
        Fragment<2, 8> P_weight;  // x of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const float r0 = guard(P_max_new[i]) * 1.442695f;
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                P_weight(i, j) = exp2_fast(M(i, j) * 0.12751743f - r0);
            }
        }

        // P_repair[b, h, g, q] = exp(P_max[b, h, g, q] - guard(P_max_new[b, h, g, q]))
        float P_repair[Rows::rows];
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            P_repair[i] = exp2_fast((P_max[i] - guard(P_max_new[i])) * 1.442695f);
        }

        // P_sum[b, h, g, q] = P_sum[b, h, g, q] * P_repair[b, h, g, q] + sum(x) P_weight[b, h, g,
        // q, x]
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            float acc = 0.0f;
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                acc = acc + P_weight(i, j);
            }
            P_sum[i] = P_sum[i] * P_repair[i] + acc;
        }

        // O_sum[b, h, g, q, e] = O_sum[b, h, g, q, e] * P_repair[b, h, g, q] + sum(x) P_weight[b,
        // h, g, q, x] * V[b, h, x, e]
        const auto P_weight_left = as_left<bf16>(P_weight);  // rounded to bf16
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                O_sum(i, j) = O_sum(i, j) * P_repair[i];
            }
        }
        multiply<Order::AsStored>(O_sum, P_weight_left, V_tile(stage), 0, 0);

        // P_max[b, h, g, q] = P_max_new[b, h, g, q]
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            P_max[i] = P_max_new[i];
        }
    };
    for (int stage = 0; stage < 1; ++stage) {
        if (x_ahead < end_x) {
            load_x(x_ahead, stage);
        }
        commit_copies();
        x_ahead += 64;
    }
    int stage = 0;
    for (int x0 = 0; x0 < end_x; x0 += 64) {
        wait_copies<0>();
        block_barrier();
        if (x_ahead < end_x) {
            load_x(x_ahead, (stage + 1) % 2);
        }
        commit_copies();
        if (whole_x(x0)) {
            chunk_x(x0, stage, Flag<false>());
        } else {
            chunk_x(x0, stage, Flag<true>());
        }
        x_ahead += 64;
        stage = (stage + 1) % 2;
    }

    // P_sum of all lanes of a row
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_sum[i] = row_sum<Rows>(P_sum[i]);
    }

    // O[b, h, g, q, e] = O_sum[b, h, g, q, e] / P_sum[b, h, g, q]
    Fragment<2, 8> O_part;  // e of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const float r0 = divide_fast(1.0f, P_sum[i]);
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            O_part(i, j) = multiply(O_sum(i, j), r0);
        }
    }
    wait_copies<1>();
    block_barrier();

    // save O
    store(O_part, O_staging, warp_q, 0);
    block_barrier();
    save_matrix<8>(O_staging, 0, 64, O,
                   b0 * O_stride_b + h0 * O_stride_h + g0 * O_stride_g + q0 * 64, 64, 64, 64,
                   threadIdx.x, kThreads);
}

}  // namespace nk
