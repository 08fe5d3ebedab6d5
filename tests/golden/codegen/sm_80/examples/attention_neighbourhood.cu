// Diagram attention_neighbourhood, region O.
//   O[b = 8, h = 4, i = 56, j = 56, d = 32] : bf16
// Derivation:
//   fuse all
//   group i by 4
//   group j by 8
//   stream u by 2
// Target sm_80, for sm_90.
// Schedule:
//   [O]
//   warps = 1
//   warps_down = 1
//   warps_across = 1
//   stages = { K = 2, V = 2 }
//   staged = { O = true }
// 30720 bytes of shared memory
// chunks of 2 of u: 1920 clocks each, 0.70 of the bound of a recurrence
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 32;

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_neighbourhood_O(Global<const bf16> Q, Global<const bf16> K, Global<const bf16> V,
                              Global<bf16> O, i64 Q_stride_b, i64 Q_stride_h, i64 K_stride_b,
                              i64 K_stride_h, i64 V_stride_b, i64 V_stride_h, i64 O_stride_b,
                              i64 O_stride_h) {
    // Shared memory: 30720 bytes.
    NK_SHARED_MEMORY(memory);
    // Q_tile: 32 x 32
    const auto Q_tile = shared_matrix<bf16, 32, 32>(memory, 0, "Q_tile");
    // K_tile: 112 x 32, 2 stages
    const auto K_tile = [&](int stage) {
        return shared_matrix<bf16, 112, 32>(memory, 2048 + stage * 7168, "K_tile");
    };
    // V_tile: 112 x 32, 2 stages
    const auto V_tile = [&](int stage) {
        return shared_matrix<bf16, 112, 32>(memory, 16384 + stage * 7168, "V_tile");
    };
    // O_staging: 32 x 32
    const auto O_staging = shared_matrix<bf16, 32, 32>(memory, 0, "O_staging");
    const int group_j = int(blockIdx.x) % 7;
    const int group_2 = int(blockIdx.x) / 7;
    const int group_i = group_2 % 14;
    const int group_3 = group_2 / 14;
    const int group_h = group_3 % 4;
    const int group_4 = group_3 / 4;
    const int b0 = group_4;
    const int h0 = group_h;
    const int i0 = group_i * 4;
    const int j0 = group_j * 8;
    using Rows = Fragment<2, 1>;
    const int warp_i_j = 0;  // first row of this warp

    // load Q
    copy_pieces<8>(Q_tile, Q, threadIdx.x, kThreads, [&](int ii_j, int id) {
        const int ii = ii_j / 8;
        const int ij = ii_j % 8;
        const i64 at =
            b0 * Q_stride_b + h0 * Q_stride_h + i0 * 1792 + ii * 1792 + j0 * 32 + ij * 32 + id;
        return piece(at, 8);
    });
    commit_copies();

    // P_max[b, h, i_j] = -inf
    float P_max[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_max[i] = minus_infinity();
    }

    // P_sum[b, h, i_j] = 0
    float P_sum[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_sum[i] = 0.0f;
    }

    // O_sum[b, h, i_j, d] = 0
    Fragment<2, 4> O_sum;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            O_sum(i, j) = 0.0f;
        }
    }

    // chunks of u
    const int end_u = (46 <= j0 || j0 <= 2 || j0 <= 52) && 50 <= i0 ? 56 : 48;
    const int end_u_2 = (46 <= j0 || j0 <= 2 || j0 <= 52) && i0 <= 2 ? 7 : 0;
    const int first_u = maximum(floor_divide(maximum(i0 - 3, 0), 2) * 2, 0);
    const int end_u_3 =
        (46 <= j0 || j0 <= 2 || j0 <= 52) && i0 <= 52 ? minimum(56, i0 + 7) : first_u;
    const auto next_u = [&](int u0) {
        const int after_u = u0 + 2;
        int nearest_u = 56;
        const int at_2 = maximum(after_u, 48);
        if (at_2 < end_u) {
            nearest_u = minimum(nearest_u, at_2);
        }
        const int at_3 = after_u;
        if (at_3 < end_u_2) {
            nearest_u = minimum(nearest_u, at_3);
        }
        const int at_4 = maximum(after_u, first_u);
        if (at_4 < end_u_3) {
            nearest_u = minimum(nearest_u, at_4);
        }
        return nearest_u;
    };
    const int first_u_2 = next_u(-2);
    int u_ahead = first_u_2;  // the next chunk to load
    const auto load_u = [&](int u0, int stage) {
        copy_pieces<8>(K_tile(stage), K, threadIdx.x, kThreads, [&](int iu_v, int id) {
            const int iu = iu_v / 56;
            const int iv = iu_v % 56;
            const i64 at = b0 * K_stride_b + h0 * K_stride_h + u0 * 1792 + iu * 1792 + iv * 32 + id;
            return piece(at, 8);
        });
        copy_pieces<8>(V_tile(stage), V, threadIdx.x, kThreads, [&](int iu_v, int id) {
            const int iu = iu_v / 56;
            const int iv = iu_v % 56;
            const i64 at = b0 * V_stride_b + h0 * V_stride_h + u0 * 1792 + iu * 1792 + iv * 32 + id;
            return piece(at, 8);
        });
    };
    const auto chunk_u = [&](int u0, int stage) NK_INLINE {
        // S[b, h, i_j, u_v] = sum(d) Q[b, h, i_j, d] * K[b, h, u_v, d] * rsqrt(size(d))
        // kept without its factor 0.176777
        Fragment<2, 14> S;  // u_v of this warp
        S.fill(0.0f);
        multiply<Order::AsStored, Order::Transposed, 32>(S, Q_tile, warp_i_j, K_tile(stage), 0);

        // M[b, h, i_j, u_v] = if min(max(i - size(w) // 2, 0), size(i) - size(w)) <= u and u <
        // min(max(i - size(w) // 2, 0), size(i) - size(w)) + size(w) and min(max(j - size(w) // 2,
        // 0), size(j) - size(w)) <= v and v < min(max(j - size(w) // 2, 0), size(j) - size(w)) +
        // size(w) then S[b, h, i_j, u_v] else -inf
        // kept without its factor 0.176777
        Fragment<2, 14> M;  // u_v of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const int ii_j = warp_i_j + Rows::row(i);
            const int ii = ii_j / 8;
            const int ij = ii_j % 8;
            const int t0 = minimum(maximum(i0 + ii - 3, 0), 49) - u0;
            const int t1 = minimum(maximum(i0 + ii - 3, 0), 49) - u0 + 6;
            const int t2 = minimum(maximum(j0 + ij - 3, 0), 49);
            const int t3 = minimum(maximum(j0 + ij - 3, 0), 49) + 6;
#pragma unroll
            for (int j = 0; j < 28; ++j) {
                const int iu_v = Fragment<2, 14>::column(j);
                const int iu = iu_v / 56;
                const int iv = iu_v % 56;
                const bool t4 = both(between(t0, iu, t1), between(t2, iv, t3));
                M(i, j) = t4 ? S(i, j) : minus_infinity();
            }
        }

        // P_max_new[b, h, i_j] = max(P_max[b, h, i_j], max(u_v) M[b, h, i_j, u_v])
        float P_max_new[Rows::rows];
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            float acc = minus_infinity();
#pragma unroll
            for (int j = 0; j < 28; ++j) {
                acc = maximum(acc, M(i, j));
            }
            acc = row_maximum<Rows>(acc);
            P_max_new[i] = maximum(P_max[i], acc * 0.17677669f);
        }

        // P_weight[b, h, i_j, u_v] = exp(M[b, h, i_j, u_v] - guard(P_max_new[b, h, i_j]))
        Fragment<2, 14> P_weight;  // u_v of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const float r0 = guard(P_max_new[i]) * 1.442695f;
#pragma unroll
            for (int j = 0; j < 28; ++j) {
                P_weight(i, j) = exp2_fast(M(i, j) * 0.25503486f - r0);
            }
        }

        // P_repair[b, h, i_j] = exp(P_max[b, h, i_j] - guard(P_max_new[b, h, i_j]))
        float P_repair[Rows::rows];
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            P_repair[i] = exp2_fast((P_max[i] - guard(P_max_new[i])) * 1.442695f);
        }

        // P_sum[b, h, i_j] = P_sum[b, h, i_j] * P_repair[b, h, i_j] + sum(u_v) P_weight[b, h, i_j,
        // u_v]
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            float acc = 0.0f;
#pragma unroll
            for (int j = 0; j < 28; ++j) {
                acc = acc + P_weight(i, j);
            }
            P_sum[i] = P_sum[i] * P_repair[i] + acc;
        }

        // O_sum[b, h, i_j, d] = O_sum[b, h, i_j, d] * P_repair[b, h, i_j] + sum(u_v) P_weight[b, h,
        // i_j, u_v] * V[b, h, u_v, d]
        const auto P_weight_left = as_left<bf16>(P_weight);  // rounded to bf16
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                O_sum(i, j) = O_sum(i, j) * P_repair[i];
            }
        }
        multiply<Order::AsStored>(O_sum, P_weight_left, V_tile(stage), 0, 0);

        // P_max[b, h, i_j] = P_max_new[b, h, i_j]
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            P_max[i] = P_max_new[i];
        }
    };
    for (int stage = 0; stage < 1; ++stage) {
        if (u_ahead < 56) {
            load_u(u_ahead, stage);
        }
        commit_copies();
        u_ahead = next_u(u_ahead);
    }
    int stage = 0;
    for (int u0 = first_u_2; u0 < 56; u0 = next_u(u0)) {
        wait_copies<0>();
        block_barrier();
        if (u_ahead < 56) {
            load_u(u_ahead, (stage + 1) % 2);
        }
        commit_copies();
        chunk_u(u0, stage);
        u_ahead = next_u(u_ahead);
        stage = (stage + 1) % 2;
    }

    // P_sum of all lanes of a row
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_sum[i] = row_sum<Rows>(P_sum[i]);
    }

    // O[b, h, i_j, d] = O_sum[b, h, i_j, d] / P_sum[b, h, i_j]
    Fragment<2, 4> O_part;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const float r0 = divide_fast(1.0f, P_sum[i]);
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            O_part(i, j) = multiply(O_sum(i, j), r0);
        }
    }
    wait_copies<1>();
    block_barrier();

    // save O
    store(O_part, O_staging, warp_i_j, 0);
    block_barrier();
    save_pieces<8>(O_staging, O, threadIdx.x, kThreads, [&](int ii_j, int id) {
        const int ii = ii_j / 8;
        const int ij = ii_j % 8;
        const i64 at =
            b0 * O_stride_b + h0 * O_stride_h + i0 * 1792 + ii * 1792 + j0 * 32 + ij * 32 + id;
        return piece(at, 8);
    });
}

}  // namespace nk
