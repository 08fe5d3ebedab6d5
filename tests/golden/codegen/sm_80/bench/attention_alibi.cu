// Diagram attention_alibi, region O.
//   O[b = 4, h = 16, q = 2048, d = 64] : bf16
// Derivation:
//   fuse all
//   group q by 128
//   stream x by 64
// Target sm_80, for sm_90.
// Schedule:
//   [O]
//   warps = 4
//   warps_down = 4
//   warps_across = 1
//   stages = { K = 2, V = 2 }
//   staged = { O = true }
// 49152 bytes of shared memory
// chunks of 64 of x: 1664 clocks each, 0.62 of the bound of a recurrence
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_alibi_O(Global<const bf16> Q, Global<const float> slope, Global<const bf16> K,
                      Global<const bf16> V, Global<bf16> O, i64 Q_stride_b, i64 Q_stride_h,
                      i64 K_stride_b, i64 K_stride_h, i64 V_stride_b, i64 V_stride_h,
                      i64 O_stride_b, i64 O_stride_h) {
    // Shared memory: 49152 bytes.
    NK_SHARED_MEMORY(memory);
    // Q_tile: 128 x 64
    const auto Q_tile = shared_matrix<bf16, 128, 64>(memory, 0, "Q_tile");
    // K_tile: 64 x 64, 2 stages
    const auto K_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 64>(memory, 16384 + stage * 8192, "K_tile");
    };
    // V_tile: 64 x 64, 2 stages
    const auto V_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 64>(memory, 32768 + stage * 8192, "V_tile");
    };
    // O_staging: 128 x 64
    const auto O_staging = shared_matrix<bf16, 128, 64>(memory, 0, "O_staging");
    const int group_q = int(blockIdx.x) % 16;
    const int group_2 = int(blockIdx.x) / 16;
    const int group_h = group_2 % 16;
    const int group_3 = group_2 / 16;
    const int b0 = group_3;
    const int h0 = group_h;
    const int q0 = 1920 - group_q * 128;
    using Rows = Fragment<2, 1>;
    const int warp_q = warp_index() * 32;  // first row of this warp

    // load Q
    copy_async<8>(Q_tile, Q, b0 * Q_stride_b + h0 * Q_stride_h + q0 * 64, 64, 128, 64, threadIdx.x,
                  kThreads);
    commit_copies();

    // P_max[b, h, q] = -inf
    float P_max[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_max[i] = minus_infinity();
    }

    // P_sum[b, h, q] = 0
    float P_sum[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_sum[i] = 0.0f;
    }

    // O_sum[b, h, q, d] = 0
    Fragment<2, 8> O_sum;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            O_sum(i, j) = 0.0f;
        }
    }

    // chunks of x
    const int end_x = minimum(2048, q0 + 128);
    int x_ahead = 0;  // the next chunk to load
    const auto load_x = [&](int x0, int stage) {
        copy_async<8>(K_tile(stage), K, b0 * K_stride_b + h0 * K_stride_h + x0 * 64, 64, 64, 64,
                      threadIdx.x, kThreads);
        copy_async<8>(V_tile(stage), V, b0 * V_stride_b + h0 * V_stride_h + x0 * 64, 64, 64, 64,
                      threadIdx.x, kThreads);
    };
    const auto whole_x = [&](int x0) { return x0 + 63 <= q0; };
    const auto chunk_x = [&](int x0, int stage, auto tested) NK_INLINE {
        const bool kTested = tested.value;

        // S[b, h, q, x] = sum(d) Q[b, h, q, d] * K[b, h, x, d] * rsqrt(size(d))
        // kept without its factor 0.125
        Fragment<2, 8> S;  // x of this warp
        S.fill(0.0f);
        multiply<Order::AsStored, Order::Transposed, 64>(S, Q_tile, warp_q, K_tile(stage), 0);

        // M[b, h, q, x] = if x <= q then S[b, h, q, x] - slope[h] * (q - x) else -inf
        Fragment<2, 8> M;  // x of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const int iq = warp_q + Rows::row(i);
            const float r0 = slope[h0];
            const int t0 = q0 + iq - x0;
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                const int ix = Fragment<2, 8>::column(j);
                float t2;
                if (!kTested || ix <= t0) {
                    const float t1 = r0 * float(q0 + iq - x0 - ix);
                    t2 = S(i, j) * 0.125f - t1;
                } else {
                    t2 = minus_infinity();
                }
                M(i, j) = t2;
            }
        }

        // P_max_new[b, h, q] = max(P_max[b, h, q], max(x) M[b, h, q, x])
        float P_max_new[Rows::rows];
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            float acc = minus_infinity();
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                acc = maximum(acc, M(i, j));
            }
            acc = row_maximum<Rows>(acc);
            P_max_new[i] = maximum(P_max[i], acc);
        }

        // P_weight[b, h, q, x] = exp(M[b, h, q, x] - guard(P_max_new[b, h, q]))
        Fragment<2, 8> P_weight;  // x of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const float r0 = absolute(P_max_new[i]) >= 67108864.0f ? 1.0f : 1.442695f;
            const float r1 = guard(P_max_new[i]) * r0;
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                P_weight(i, j) = exp2_fast(M(i, j) * r0 - r1);
            }
        }

        // P_repair[b, h, q] = exp(P_max[b, h, q] - guard(P_max_new[b, h, q]))
        float P_repair[Rows::rows];
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            P_repair[i] = exp2_fast((P_max[i] - guard(P_max_new[i])) * 1.442695f);
        }

        // P_sum[b, h, q] = P_sum[b, h, q] * P_repair[b, h, q] + sum(x) P_weight[b, h, q, x]
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            float acc = 0.0f;
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                acc = acc + P_weight(i, j);
            }
            P_sum[i] = P_sum[i] * P_repair[i] + acc;
        }

        // O_sum[b, h, q, d] = O_sum[b, h, q, d] * P_repair[b, h, q] + sum(x) P_weight[b, h, q, x] *
        // V[b, h, x, d]
        const auto P_weight_left = as_left<bf16>(P_weight);  // rounded to bf16
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                O_sum(i, j) = O_sum(i, j) * P_repair[i];
            }
        }
        multiply<Order::AsStored>(O_sum, P_weight_left, V_tile(stage), 0, 0);

        // P_max[b, h, q] = P_max_new[b, h, q]
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

    // O[b, h, q, d] = O_sum[b, h, q, d] / P_sum[b, h, q]
    Fragment<2, 8> O_part;  // d of this warp
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
    save_matrix<8>(O_staging, 0, 128, O, b0 * O_stride_b + h0 * O_stride_h + q0 * 64, 64, 128, 64,
                   threadIdx.x, kThreads);
}

}  // namespace nk
