// Diagram attention_decoding, region O_sum_part.
//   O_sum_part[x_part = 64, b = 2, h = 8, q = 4, d = 128] : f32
//   P_max_part[x_part = 64, b = 2, h = 8, q = 4] : f32
//   P_sum_part[x_part = 64, b = 2, h = 8, q = 4] : f32
// Derivation:
//   fuse S, P, O
//   stream x by 64
//   split-stream x by 1024
// Target sm_80, for sm_90.
// Schedule:
//   [O_sum_part]
//   warps = 1
//   warps_down = 1
//   warps_across = 1
//   stages = { K = 2, V = 2 }
//   staged = { O_sum_part = true }
// 69632 bytes of shared memory
// chunks of 64 of x_in: 1209 clocks each, 0.85 of the bound of the tensor core
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 32;

extern "C" __global__ void __launch_bounds__(kThreads) attention_decoding_O_sum_part(
    Global<const bf16> Q, Global<const bf16> K, Global<const bf16> V, Global<float> P_max_part,
    Global<float> P_sum_part, Global<float> O_sum_part, i64 Q_stride_b, i64 Q_stride_h,
    i64 K_stride_b, i64 K_stride_h, i64 V_stride_b, i64 V_stride_h, i64 P_max_part_stride_x_part,
    i64 P_max_part_stride_b, i64 P_max_part_stride_h, i64 P_sum_part_stride_x_part,
    i64 P_sum_part_stride_b, i64 P_sum_part_stride_h, i64 O_sum_part_stride_x_part,
    i64 O_sum_part_stride_b, i64 O_sum_part_stride_h) {
    // Shared memory: 69632 bytes.
    NK_SHARED_MEMORY(memory);
    // Q_tile: 16 x 128
    const auto Q_tile = shared_matrix<bf16, 16, 128>(memory, 0, "Q_tile");
    // K_tile: 64 x 128, 2 stages
    const auto K_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 128>(memory, 4096 + stage * 16384, "K_tile");
    };
    // V_tile: 64 x 128, 2 stages
    const auto V_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 128>(memory, 36864 + stage * 16384, "V_tile");
    };
    // O_sum_part_staging: 16 x 128
    const auto O_sum_part_staging = shared_matrix<float, 16, 128>(memory, 0, "O_sum_part_staging");
    const int group_x_part = int(blockIdx.x) % 64;
    const int group_2 = int(blockIdx.x) / 64;
    const int group_h = group_2 % 8;
    const int group_3 = group_2 / 8;
    const int b0 = group_3;
    const int h0 = group_h;
    const int x_part0 = group_x_part;
    using Rows = Fragment<1, 1>;
    const int warp_q = 0;  // first row of this warp

    // load Q
    copy_async<8>(Q_tile, Q, b0 * Q_stride_b + h0 * Q_stride_h, 128, 4, 128, threadIdx.x, kThreads);
    commit_copies();

    // P_max_part_max[x_part, b, h, q] = -inf
    float P_max_part_max[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_max_part_max[i] = minus_infinity();
    }

    // P_sum_part_sum[x_part, b, h, q] = 0
    float P_sum_part_sum[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_sum_part_sum[i] = 0.0f;
    }

    // O_sum_part_sum[x_part, b, h, q, d] = 0
    Fragment<1, 16> O_sum_part_sum;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 32; ++j) {
            O_sum_part_sum(i, j) = 0.0f;
        }
    }

    // chunks of x_in
    int x_in_ahead = 0;  // the next chunk to load
    const auto load_x_in = [&](int x_in0, int stage) {
        copy_async<8>(K_tile(stage), K,
                      b0 * K_stride_b + h0 * K_stride_h + x_part0 * 131072 + x_in0 * 128, 128,
                      minimum(64, 65536 - x_part0 * 1024 - x_in0), 128, threadIdx.x, kThreads);
        copy_async<8>(V_tile(stage), V,
                      b0 * V_stride_b + h0 * V_stride_h + x_part0 * 131072 + x_in0 * 128, 128,
                      minimum(64, 65536 - x_part0 * 1024 - x_in0), 128, threadIdx.x, kThreads);
    };
    const auto chunk_x_in = [&](int x_in0, int stage) NK_INLINE {
        // S[x_part, b, h, q, x_in] = sum(d) Q[b, h, q, d] * K[b, h, x_in, d] * rsqrt(size(d))
        // kept without its factor 0.0883883
        Fragment<1, 8> S;  // x_in of this warp
        S.fill(0.0f);
        multiply<Order::AsStored, Order::Transposed, 128>(S, Q_tile, warp_q, K_tile(stage), 0);

        // P_max_part_max_new[x_part, b, h, q] = max(P_max_part_max[x_part, b, h, q], max(x_in)
        // S[x_part, b, h, q, x_in])
        float P_max_part_max_new[Rows::rows];
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            float acc = minus_infinity();
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                acc = maximum(acc, S(i, j));
            }
            acc = row_maximum<Rows>(acc);
            P_max_part_max_new[i] = maximum(P_max_part_max[i], acc * 0.088388346f);
        }

        // P_sum_part_weight[x_part, b, h, q, x_in] = exp(S[x_part, b, h, q, x_in] -
        // guard(P_max_part_max_new[x_part, b, h, q]))
        Fragment<1, 8> P_sum_part_weight;  // x_in of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const float r0 = guard(P_max_part_max_new[i]) * 1.442695f;
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                P_sum_part_weight(i, j) = exp2_fast(S(i, j) * 0.12751743f - r0);
            }
        }

        // P_sum_part_repair[x_part, b, h, q] = exp(P_max_part_max[x_part, b, h, q] -
        // guard(P_max_part_max_new[x_part, b, h, q]))
        float P_sum_part_repair[Rows::rows];
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const float t0 = guard(P_max_part_max_new[i]);
            P_sum_part_repair[i] = exp2_fast((P_max_part_max[i] - t0) * 1.442695f);
        }

        // P_sum_part_sum[x_part, b, h, q] = P_sum_part_sum[x_part, b, h, q] *
        // P_sum_part_repair[x_part, b, h, q] + sum(x_in) P_sum_part_weight[x_part, b, h, q, x_in]
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            float acc = 0.0f;
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                acc = acc + P_sum_part_weight(i, j);
            }
            P_sum_part_sum[i] = P_sum_part_sum[i] * P_sum_part_repair[i] + acc;
        }

        // O_sum_part_sum[x_part, b, h, q, d] = O_sum_part_sum[x_part, b, h, q, d] *
        // P_sum_part_repair[x_part, b, h, q] + sum(x_in) P_sum_part_weight[x_part, b, h, q, x_in] *
        // V[b, h, x_in, d]
        const auto P_sum_part_weight_left = as_left<bf16>(P_sum_part_weight);  // rounded to bf16
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
            for (int j = 0; j < 32; ++j) {
                O_sum_part_sum(i, j) = O_sum_part_sum(i, j) * P_sum_part_repair[i];
            }
        }
        multiply<Order::AsStored>(O_sum_part_sum, P_sum_part_weight_left, V_tile(stage), 0, 0);

        // P_max_part_max[x_part, b, h, q] = P_max_part_max_new[x_part, b, h, q]
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            P_max_part_max[i] = P_max_part_max_new[i];
        }
    };
    for (int stage = 0; stage < 1; ++stage) {
        if (x_in_ahead < 1024) {
            load_x_in(x_in_ahead, stage);
        }
        commit_copies();
        x_in_ahead += 64;
    }
    int stage = 0;
    for (int x_in0 = 0; x_in0 < 1024; x_in0 += 64) {
        wait_copies<0>();
        block_barrier();
        if (x_in_ahead < 1024) {
            load_x_in(x_in_ahead, (stage + 1) % 2);
        }
        commit_copies();
        chunk_x_in(x_in0, stage);
        x_in_ahead += 64;
        stage = (stage + 1) % 2;
    }

    // P_sum_part_sum of all lanes of a row
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_sum_part_sum[i] = row_sum<Rows>(P_sum_part_sum[i]);
    }

    // P_max_part[x_part, b, h, q] = P_max_part_max[x_part, b, h, q]
    float P_max_part_part[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_max_part_part[i] = P_max_part_max[i];
    }

    // P_sum_part[x_part, b, h, q] = P_sum_part_sum[x_part, b, h, q]
    float P_sum_part_part[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_sum_part_part[i] = P_sum_part_sum[i];
    }

    // O_sum_part[x_part, b, h, q, d] = O_sum_part_sum[x_part, b, h, q, d]
    Fragment<1, 16> O_sum_part_part;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 32; ++j) {
            O_sum_part_part(i, j) = O_sum_part_sum(i, j);
        }
    }

    // save P_max_part
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int iq = warp_q + Rows::row(i);
        if (lane_index() % Rows::lanes_per_row == 0 && iq < 4) {
            const i64 at = x_part0 * P_max_part_stride_x_part + b0 * P_max_part_stride_b +
                           h0 * P_max_part_stride_h + iq;
            P_max_part[at] = P_max_part_part[i];
        }
    }

    // save P_sum_part
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int iq = warp_q + Rows::row(i);
        if (lane_index() % Rows::lanes_per_row == 0 && iq < 4) {
            const i64 at = x_part0 * P_sum_part_stride_x_part + b0 * P_sum_part_stride_b +
                           h0 * P_sum_part_stride_h + iq;
            P_sum_part[at] = P_sum_part_part[i];
        }
    }
    wait_copies<1>();
    block_barrier();

    // save O_sum_part
    store(O_sum_part_part, O_sum_part_staging, warp_q, 0);
    block_barrier();
    const i64 O_sum_part_at =
        x_part0 * O_sum_part_stride_x_part + b0 * O_sum_part_stride_b + h0 * O_sum_part_stride_h;
    save_matrix<4>(O_sum_part_staging, 0, 16, O_sum_part, O_sum_part_at, 128, 4, 128, threadIdx.x,
                   kThreads);
}

}  // namespace nk
// Diagram attention_decoding, region O.
//   O[b = 2, h = 8, q = 4, d = 128] : bf16
// Derivation:
//   fuse S, P, O
//   stream x by 64
//   split-stream x by 1024
// Target sm_80, for sm_90.
// Schedule:
//   [O]
//   warps = 4
//   warps_down = 4
//   warps_across = 1
// 0 bytes of shared memory
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    attention_decoding_O(Global<const float> P_max_part, Global<const float> O_sum_part,
                         Global<const float> P_sum_part, Global<bf16> O,
                         i64 P_max_part_stride_x_part, i64 P_max_part_stride_b,
                         i64 P_max_part_stride_h, i64 O_sum_part_stride_x_part,
                         i64 O_sum_part_stride_b, i64 O_sum_part_stride_h,
                         i64 P_sum_part_stride_x_part, i64 P_sum_part_stride_b,
                         i64 P_sum_part_stride_h, i64 O_stride_b, i64 O_stride_h) {
    const int group_h = int(blockIdx.x) % 8;
    const int group_2 = int(blockIdx.x) / 8;
    const int b0 = group_2;
    const int h0 = group_h;
    using Rows = RowFragment<1, 1, 4, 32>;
    const int warp_q = warp_index();  // first row of this warp

    // load P_sum_part
    RowFragment<1, 1, 4, 32> P_sum_part_part;  // x_part of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int iq = warp_q + Rows::row(i);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int ix_part = RowFragment<1, 1, 4, 32>::column(j);
            const i64 at = ix_part * P_sum_part_stride_x_part + b0 * P_sum_part_stride_b +
                           h0 * P_sum_part_stride_h + iq;
            P_sum_part_part(i, j) = ix_part < 64 ? P_sum_part[at] : 0.0f;
        }
    }

    // P_max[b, h, q] = max(x_part) P_max_part[x_part, b, h, q]
    float P_max[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int iq = warp_q + Rows::row(i);
        float acc = minus_infinity();
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int ix_part = RowFragment<1, 1, 4, 32>::column(j);
            const i64 t0 = minimum(ix_part, 63) * P_max_part_stride_x_part +
                           b0 * P_max_part_stride_b + h0 * P_max_part_stride_h + iq;
            acc = maximum(acc, ix_part < 64 ? P_max_part[t0] : minus_infinity());
        }
        acc = row_maximum<Rows>(acc);
        P_max[i] = acc;
    }

    // P_repair[x_part, b, h, q] = exp(P_max_part[x_part, b, h, q] - guard(P_max[b, h, q]))
    RowFragment<1, 1, 4, 32> P_repair;  // x_part of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int iq = warp_q + Rows::row(i);
        const float r0 = absolute(P_max[i]) >= 67108864.0f ? 1.0f : 1.442695f;
        const float r1 = guard(P_max[i]) * r0;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int ix_part = RowFragment<1, 1, 4, 32>::column(j);
            const i64 t0 = minimum(ix_part, 63) * P_max_part_stride_x_part +
                           b0 * P_max_part_stride_b + h0 * P_max_part_stride_h + iq;
            P_repair(i, j) = exp2_gradual(P_max_part[t0] * r0 - r1);
        }
    }

    // O_sum[b, h, q, d] = sum(x_part) O_sum_part[x_part, b, h, q, d] * P_repair[x_part, b, h, q]
    RowFragment<1, 1, 4, 32> O_sum;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int iq = warp_q + Rows::row(i);
        float acc[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            acc[j] = 0.0f;
        }
#pragma unroll 8
        for (int ix_part = 0; ix_part < 64; ++ix_part) {
            const i64 t0 = ix_part * P_max_part_stride_x_part + b0 * P_max_part_stride_b +
                           h0 * P_max_part_stride_h + iq;
            const float t1 = absolute(P_max[i]) >= 67108864.0f ? 1.0f : 1.442695f;
            const float t2 = absolute(P_max[i]) >= 67108864.0f ? 1.0f : 1.442695f;
            const float r0 = exp2_gradual(P_max_part[t0] * t1 - guard(P_max[i]) * t2);
#pragma unroll
            for (int vector = 0; vector < 1; ++vector) {
                const int id_first = RowFragment<1, 1, 4, 32>::column(vector * 4);
                const i64 at_2 = ix_part * O_sum_part_stride_x_part + b0 * O_sum_part_stride_b +
                                 h0 * O_sum_part_stride_h + iq * 128 + id_first;
                const auto v = values_at<4, 4>(O_sum_part, at_2, 4);
#pragma unroll
                for (int element_2 = 0; element_2 < 4; ++element_2) {
                    const int j = vector * 4 + element_2;
                    acc[j] = acc[j] + v[element_2] * r0;
                }
            }
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            O_sum(i, j) = acc[j];
        }
    }

    // P_sum[b, h, q] = sum(x_part) P_sum_part[x_part, b, h, q] * P_repair[x_part, b, h, q]
    float P_sum[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        float acc = 0.0f;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int ix_part = RowFragment<1, 1, 4, 32>::column(j);
            acc = acc + (ix_part < 64 ? P_sum_part_part(i, j) * P_repair(i, j) : 0.0f);
        }
        acc = row_sum<Rows>(acc);
        P_sum[i] = acc;
    }

    // O[b, h, q, d] = O_sum[b, h, q, d] / P_sum[b, h, q]
    RowFragment<1, 1, 4, 32> O_part;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const float r0 = divide_fast(1.0f, P_sum[i]);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            O_part(i, j) = multiply(O_sum(i, j), r0);
        }
    }

    // save O
    save_rows(O_part, O, b0 * O_stride_b + h0 * O_stride_h + warp_q * 128, 128, 4 - warp_q, 128);
}

}  // namespace nk
