// Diagram attention_gradient, region O.
//   L[b = 4, h = 16, q = 4096] : f32
//   O[b = 4, h = 16, q = 4096, e = 64] : f32
// Derivation:
//   reassociate P, V as O in D
//   fuse dK, dV
//   recompute S, P, dP, dS in dQ
//   recompute S, P, dP, dS in dV
//   fuse S, L, P, O
//   group q by 64 in O
//   stream x by 64 in O
//   group q by 64 in D
//   group q by 32 in dQ
//   stream x by 32 in dQ
//   group x by 32 in dV
//   stream q by 32 in dV
// Target sm_80, for sm_90.
// Schedule:
//   [O]
//   warps = 2
//   warps_down = 2
//   warps_across = 1
//   stages = { K = 2, V = 2 }
//   staged = { O = true }
// 40960 bytes of shared memory
// chunks of 64 of x: 1664 clocks each, 0.62 of the bound of a recurrence
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 64;

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_gradient_O(Global<const bf16> Q, Global<const bf16> K, Global<const bf16> V,
                         Global<float> L, Global<float> O, i64 Q_stride_b, i64 Q_stride_h,
                         i64 K_stride_b, i64 K_stride_h, i64 V_stride_b, i64 V_stride_h,
                         i64 L_stride_b, i64 L_stride_h, i64 O_stride_b, i64 O_stride_h) {
    // Shared memory: 40960 bytes.
    NK_SHARED_MEMORY(memory);
    // Q_tile: 64 x 64
    const auto Q_tile = shared_matrix<bf16, 64, 64>(memory, 0, "Q_tile");
    // K_tile: 64 x 64, 2 stages
    const auto K_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 64>(memory, 8192 + stage * 8192, "K_tile");
    };
    // V_tile: 64 x 64, 2 stages
    const auto V_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 64>(memory, 24576 + stage * 8192, "V_tile");
    };
    // O_staging: 64 x 64
    const auto O_staging = shared_matrix<float, 64, 64>(memory, 0, "O_staging");
    const int group_q = int(blockIdx.x) % 64;
    const int group_2 = int(blockIdx.x) / 64;
    const int group_h = group_2 % 16;
    const int group_3 = group_2 / 16;
    const int b0 = group_3;
    const int h0 = group_h;
    const int q0 = group_q * 64;
    using Rows = Fragment<2, 1>;
    const int warp_q = warp_index() * 32;  // first row of this warp

    // load Q
    copy_async<8>(Q_tile, Q, b0 * Q_stride_b + h0 * Q_stride_h + q0 * 64, 64, 64, 64, threadIdx.x,
                  kThreads);
    commit_copies();

    // L_max[b, h, q] = -inf
    float L_max[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        L_max[i] = minus_infinity();
    }

    // L_sum[b, h, q] = 0
    float L_sum[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        L_sum[i] = 0.0f;
    }

    // O_sum[b, h, q, e] = 0
    Fragment<2, 8> O_sum;  // e of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            O_sum(i, j) = 0.0f;
        }
    }

    // chunks of x
    int x_ahead = 0;  // the next chunk to load
    const auto load_x = [&](int x0, int stage) {
        copy_async<8>(K_tile(stage), K, b0 * K_stride_b + h0 * K_stride_h + x0 * 64, 64, 64, 64,
                      threadIdx.x, kThreads);
        copy_async<8>(V_tile(stage), V, b0 * V_stride_b + h0 * V_stride_h + x0 * 64, 64, 64, 64,
                      threadIdx.x, kThreads);
    };
    const auto chunk_x = [&](int x0, int stage) NK_INLINE {
        // S[b, h, q, x] = sum(d) Q[b, h, q, d] * K[b, h, x, d] * rsqrt(size(d))
        // kept without its factor 0.125
        Fragment<2, 8> S;  // x of this warp
        S.fill(0.0f);
        multiply<Order::AsStored, Order::Transposed, 64>(S, Q_tile, warp_q, K_tile(stage), 0);

        // L_max_new[b, h, q] = max(L_max[b, h, q], max(x) S[b, h, q, x])
        float L_max_new[Rows::rows];
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            float acc = minus_infinity();
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                acc = maximum(acc, S(i, j));
            }
            acc = row_maximum<Rows>(acc);
            L_max_new[i] = maximum(L_max[i], acc * 0.125f);
        }

        // L_weight[b, h, q, x] = exp(S[b, h, q, x] - guard(L_max_new[b, h, q]))
        Fragment<2, 8> L_weight;  // x of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const float r0 = guard(L_max_new[i]) * 1.442695f;
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                L_weight(i, j) = exp2_fast(S(i, j) * 0.18033688f - r0);
            }
        }

        // L_repair[b, h, q] = exp(L_max[b, h, q] - guard(L_max_new[b, h, q]))
        float L_repair[Rows::rows];
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            L_repair[i] = exp2_fast((L_max[i] - guard(L_max_new[i])) * 1.442695f);
        }

        // L_sum[b, h, q] = L_sum[b, h, q] * L_repair[b, h, q] + sum(x) L_weight[b, h, q, x]
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            float acc = 0.0f;
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                acc = acc + L_weight(i, j);
            }
            L_sum[i] = L_sum[i] * L_repair[i] + acc;
        }

        // O_sum[b, h, q, e] = O_sum[b, h, q, e] * L_repair[b, h, q] + sum(x) L_weight[b, h, q, x] *
        // V[b, h, x, e]
        const auto L_weight_left = as_left<bf16>(L_weight);  // rounded to bf16
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                O_sum(i, j) = O_sum(i, j) * L_repair[i];
            }
        }
        multiply<Order::AsStored>(O_sum, L_weight_left, V_tile(stage), 0, 0);

        // L_max[b, h, q] = L_max_new[b, h, q]
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            L_max[i] = L_max_new[i];
        }
    };
    for (int stage = 0; stage < 1; ++stage) {
        if (x_ahead < 4096) {
            load_x(x_ahead, stage);
        }
        commit_copies();
        x_ahead += 64;
    }
    int stage = 0;
    for (int x0 = 0; x0 < 4096; x0 += 64) {
        wait_copies<0>();
        block_barrier();
        if (x_ahead < 4096) {
            load_x(x_ahead, (stage + 1) % 2);
        }
        commit_copies();
        chunk_x(x0, stage);
        x_ahead += 64;
        stage = (stage + 1) % 2;
    }

    // L_sum of all lanes of a row
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        L_sum[i] = row_sum<Rows>(L_sum[i]);
    }

    // L[b, h, q] = L_max[b, h, q] + log(L_sum[b, h, q])
    float L_part[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        L_part[i] = add(L_max[i], logf(L_sum[i]));
    }

    // O[b, h, q, e] = exp(L_max[b, h, q] - L[b, h, q]) * O_sum[b, h, q, e]
    Fragment<2, 8> O_part;  // e of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const float t0 = subtract(L_max[i] * 1.442695f, L_part[i] * 1.442695f);
        const float r0 = exp2_gradual(t0);
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            O_part(i, j) = r0 * O_sum(i, j);
        }
    }

    // save L
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int iq = warp_q + Rows::row(i);
        if (lane_index() % Rows::lanes_per_row == 0) {
            const i64 at = b0 * L_stride_b + h0 * L_stride_h + q0 + iq;
            L[at] = L_part[i];
        }
    }
    wait_copies<1>();
    block_barrier();

    // save O
    store(O_part, O_staging, warp_q, 0);
    block_barrier();
    save_matrix<4>(O_staging, 0, 64, O, b0 * O_stride_b + h0 * O_stride_h + q0 * 64, 64, 64, 64,
                   threadIdx.x, kThreads);
}

}  // namespace nk
// Diagram attention_gradient, region D.
//   D[b = 4, h = 16, q = 4096] : bf16
// Derivation:
//   reassociate P, V as O in D
//   fuse dK, dV
//   recompute S, P, dP, dS in dQ
//   recompute S, P, dP, dS in dV
//   fuse S, L, P, O
//   group q by 64 in O
//   stream x by 64 in O
//   group q by 64 in D
//   group q by 32 in dQ
//   stream x by 32 in dQ
//   group x by 32 in dV
//   stream q by 32 in dV
// Target sm_80, for sm_90.
// Schedule:
//   [D]
//   warps = 8
//   warps_down = 8
//   warps_across = 1
// 0 bytes of shared memory
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_gradient_D(Global<const bf16> dO, Global<const float> O, Global<bf16> D,
                         i64 dO_stride_b, i64 dO_stride_h, i64 O_stride_b, i64 O_stride_h,
                         i64 D_stride_b, i64 D_stride_h) {
    const int group_q = int(blockIdx.x) % 64;
    const int group_2 = int(blockIdx.x) / 64;
    const int group_h = group_2 % 16;
    const int group_3 = group_2 / 16;
    const int b0 = group_3;
    const int h0 = group_h;
    const int q0 = group_q * 64;
    using Rows = RowFragment<2, 1, 8, 8>;
    const int warp_q = warp_index() * 8;  // first row of this warp

    // load dO
    RowFragment<2, 1, 8, 8> dO_part;  // e of this warp
    load_rows(dO_part, dO, b0 * dO_stride_b + h0 * dO_stride_h + q0 * 64 + warp_q * 64, 64,
              64 - warp_q, 64);

    // load O
    RowFragment<2, 1, 8, 8> O_part;  // e of this warp
    load_rows(O_part, O, b0 * O_stride_b + h0 * O_stride_h + q0 * 64 + warp_q * 64, 64, 64 - warp_q,
              64);

    // D[b, h, q] = sum(e) dO[b, h, q, e] * O[b, h, q, e]
    float D_part[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        float acc = 0.0f;
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            acc = acc + dO_part(i, j) * O_part(i, j);
        }
        acc = row_sum<Rows>(acc);
        D_part[i] = acc;
    }

    // save D
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int iq = warp_q + Rows::row(i);
        if (threadIdx.x % 8 == 0) {
            const i64 at = b0 * D_stride_b + h0 * D_stride_h + q0 + iq;
            D[at] = convert<bf16>(D_part[i]);
        }
    }
}

}  // namespace nk
// Diagram attention_gradient, region dV.
//   dK[b = 4, h = 16, x = 4096, d = 64] : bf16
//   dV[b = 4, h = 16, x = 4096, e = 64] : bf16
// Derivation:
//   reassociate P, V as O in D
//   fuse dK, dV
//   recompute S, P, dP, dS in dQ
//   recompute S, P, dP, dS in dV
//   fuse S, L, P, O
//   group q by 64 in O
//   stream x by 64 in O
//   group q by 64 in D
//   group q by 32 in dQ
//   stream x by 32 in dQ
//   group x by 32 in dV
//   stream q by 32 in dV
// Target sm_80, for sm_90.
// Schedule:
//   [dV]
//   warps = 2
//   warps_down = 2
//   warps_across = 1
//   stages = { Q = 2, dO = 2 }
//   staged = { dK = true, dV = true }
// 24576 bytes of shared memory
// chunks of 32 of q: 912 clocks each, 0.56 of the bound of the tensor core
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 64;

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_gradient_dV(Global<const bf16> K, Global<const bf16> V, Global<const bf16> Q,
                          Global<const float> L, Global<const bf16> dO, Global<const bf16> D,
                          Global<bf16> dK, Global<bf16> dV, i64 K_stride_b, i64 K_stride_h,
                          i64 V_stride_b, i64 V_stride_h, i64 Q_stride_b, i64 Q_stride_h,
                          i64 L_stride_b, i64 L_stride_h, i64 dO_stride_b, i64 dO_stride_h,
                          i64 D_stride_b, i64 D_stride_h, i64 dK_stride_b, i64 dK_stride_h,
                          i64 dV_stride_b, i64 dV_stride_h) {
    // Shared memory: 24576 bytes.
    NK_SHARED_MEMORY(memory);
    // K_tile: 32 x 64
    const auto K_tile = shared_matrix<bf16, 32, 64>(memory, 0, "K_tile");
    // V_tile: 32 x 64
    const auto V_tile = shared_matrix<bf16, 32, 64>(memory, 4096, "V_tile");
    // Q_tile: 32 x 64, 2 stages
    const auto Q_tile = [&](int stage) {
        return shared_matrix<bf16, 32, 64>(memory, 8192 + stage * 4096, "Q_tile");
    };
    // dO_tile: 32 x 64, 2 stages
    const auto dO_tile = [&](int stage) {
        return shared_matrix<bf16, 32, 64>(memory, 16384 + stage * 4096, "dO_tile");
    };
    // dK_staging: 32 x 64
    const auto dK_staging = shared_matrix<bf16, 32, 64>(memory, 0, "dK_staging");
    // dV_staging: 32 x 64
    const auto dV_staging = shared_matrix<bf16, 32, 64>(memory, 0, "dV_staging");
    const int group_x = int(blockIdx.x) % 128;
    const int group_2 = int(blockIdx.x) / 128;
    const int group_h = group_2 % 16;
    const int group_3 = group_2 / 16;
    const int b0 = group_3;
    const int h0 = group_h;
    const int x0 = group_x * 32;
    using Rows = Fragment<1, 1>;
    const int warp_x = warp_index() * 16;  // first row of this warp

    // load K
    copy_async<8>(K_tile, K, b0 * K_stride_b + h0 * K_stride_h + x0 * 64, 64, 32, 64, threadIdx.x,
                  kThreads);

    // load V
    copy_async<8>(V_tile, V, b0 * V_stride_b + h0 * V_stride_h + x0 * 64, 64, 32, 64, threadIdx.x,
                  kThreads);
    commit_copies();

    // dK_sum[b, h, x, d] = 0
    Fragment<1, 8> dK_sum;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            dK_sum(i, j) = 0.0f;
        }
    }

    // dV_sum[b, h, x, e] = 0
    Fragment<1, 8> dV_sum;  // e of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            dV_sum(i, j) = 0.0f;
        }
    }

    // chunks of q
    int q_ahead = 0;  // the next chunk to load
    const auto load_q = [&](int q0, int stage) {
        copy_async<8>(Q_tile(stage), Q, b0 * Q_stride_b + h0 * Q_stride_h + q0 * 64, 64, 32, 64,
                      threadIdx.x, kThreads);
        copy_async<8>(dO_tile(stage), dO, b0 * dO_stride_b + h0 * dO_stride_h + q0 * 64, 64, 32, 64,
                      threadIdx.x, kThreads);
    };
    const auto chunk_q = [&](int q0, int stage) NK_INLINE {
        // S''[b, h, q, x] = sum(d) Q[b, h, q, d] * K[b, h, x, d] * rsqrt(size(d))
        // kept without its factor 0.125
        Fragment<1, 4> S;  // q of this warp
        S.fill(0.0f);
        multiply<Order::AsStored, Order::Transposed, 64>(S, K_tile, warp_x, Q_tile(stage), 0);

        // P''[b, h, q, x] = exp(S''[b, h, q, x] - L[b, h, q])
        Fragment<1, 4> P;  // q of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                const int iq = Fragment<1, 4>::column(j);
                const float t0 = L[b0 * L_stride_b + h0 * L_stride_h + q0 + iq];
                P(i, j) = exp2_fast(S(i, j) * 0.18033688f - t0 * 1.442695f);
            }
        }

        // dP[b, h, q, x] = sum(e) dO[b, h, q, e] * V[b, h, x, e]
        Fragment<1, 4> dP;  // q of this warp
        dP.fill(0.0f);
        multiply<Order::AsStored, Order::Transposed, 64>(dP, V_tile, warp_x, dO_tile(stage), 0);

        // dK_factor[b, h, x, q] = P''[b, h, q, x] * (dP[b, h, q, x] - D[b, h, q])
        Fragment<1, 4> dK_factor;  // q of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                const int iq = Fragment<1, 4>::column(j);
                const float t1 = element_of(D, b0 * D_stride_b + h0 * D_stride_h + q0 + iq, j % 2);
                dK_factor(i, j) = P(i, j) * (dP(i, j) - t1);
            }
        }

        // dK_sum[b, h, x, d] = dK_sum[b, h, x, d] + sum(q) dK_factor[b, h, x, q] * Q[b, h, q, d]
        const auto dK_factor_left = as_left<bf16>(dK_factor);  // rounded to bf16
        multiply<Order::AsStored>(dK_sum, dK_factor_left, Q_tile(stage), 0, 0);

        // dV_sum[b, h, x, e] = dV_sum[b, h, x, e] + sum(q) P''[b, h, q, x] * dO[b, h, q, e]
        const auto P_left = as_left<bf16>(P);  // rounded to bf16
        multiply<Order::AsStored>(dV_sum, P_left, dO_tile(stage), 0, 0);
    };
    for (int stage = 0; stage < 1; ++stage) {
        if (q_ahead < 4096) {
            load_q(q_ahead, stage);
        }
        commit_copies();
        q_ahead += 32;
    }
    int stage = 0;
    for (int q0 = 0; q0 < 4096; q0 += 32) {
        wait_copies<0>();
        block_barrier();
        if (q_ahead < 4096) {
            load_q(q_ahead, (stage + 1) % 2);
        }
        commit_copies();
        chunk_q(q0, stage);
        q_ahead += 32;
        stage = (stage + 1) % 2;
    }

    // dK[b, h, x, d] = dK_sum[b, h, x, d] / sqrt(size(d))
    Fragment<1, 8> dK_part;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            dK_part(i, j) = dK_sum(i, j) * 0.125f;
        }
    }

    // dV[b, h, x, e] = dV_sum[b, h, x, e]
    Fragment<1, 8> dV_part;  // e of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            dV_part(i, j) = dV_sum(i, j);
        }
    }
    wait_copies<1>();
    block_barrier();

    // save dK
    store(dK_part, dK_staging, warp_x, 0);
    block_barrier();
    save_matrix<8>(dK_staging, 0, 32, dK, b0 * dK_stride_b + h0 * dK_stride_h + x0 * 64, 64, 32, 64,
                   threadIdx.x, kThreads);
    block_barrier();

    // save dV
    store(dV_part, dV_staging, warp_x, 0);
    block_barrier();
    save_matrix<8>(dV_staging, 0, 32, dV, b0 * dV_stride_b + h0 * dV_stride_h + x0 * 64, 64, 32, 64,
                   threadIdx.x, kThreads);
}

}  // namespace nk
// Diagram attention_gradient, region dQ.
//   dQ[b = 4, h = 16, q = 4096, d = 64] : bf16
// Derivation:
//   reassociate P, V as O in D
//   fuse dK, dV
//   recompute S, P, dP, dS in dQ
//   recompute S, P, dP, dS in dV
//   fuse S, L, P, O
//   group q by 64 in O
//   stream x by 64 in O
//   group q by 64 in D
//   group q by 32 in dQ
//   stream x by 32 in dQ
//   group x by 32 in dV
//   stream q by 32 in dV
// Target sm_80, for sm_90.
// Schedule:
//   [dQ]
//   warps = 1
//   warps_down = 1
//   warps_across = 1
//   stages = { K = 2, V = 2 }
//   staged = { dQ = true }
// 24576 bytes of shared memory
// chunks of 32 of x: 1268 clocks each, 0.61 of the bound of the tensor core
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 32;

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_gradient_dQ(Global<const bf16> Q, Global<const float> L, Global<const bf16> dO,
                          Global<const bf16> D, Global<const bf16> K, Global<const bf16> V,
                          Global<bf16> dQ, i64 Q_stride_b, i64 Q_stride_h, i64 L_stride_b,
                          i64 L_stride_h, i64 dO_stride_b, i64 dO_stride_h, i64 D_stride_b,
                          i64 D_stride_h, i64 K_stride_b, i64 K_stride_h, i64 V_stride_b,
                          i64 V_stride_h, i64 dQ_stride_b, i64 dQ_stride_h) {
    // Shared memory: 24576 bytes.
    NK_SHARED_MEMORY(memory);
    // Q_tile: 32 x 64
    const auto Q_tile = shared_matrix<bf16, 32, 64>(memory, 0, "Q_tile");
    // dO_tile: 32 x 64
    const auto dO_tile = shared_matrix<bf16, 32, 64>(memory, 4096, "dO_tile");
    // K_tile: 32 x 64, 2 stages
    const auto K_tile = [&](int stage) {
        return shared_matrix<bf16, 32, 64>(memory, 8192 + stage * 4096, "K_tile");
    };
    // V_tile: 32 x 64, 2 stages
    const auto V_tile = [&](int stage) {
        return shared_matrix<bf16, 32, 64>(memory, 16384 + stage * 4096, "V_tile");
    };
    // dQ_staging: 32 x 64
    const auto dQ_staging = shared_matrix<bf16, 32, 64>(memory, 0, "dQ_staging");
    const int group_q = int(blockIdx.x) % 128;
    const int group_2 = int(blockIdx.x) / 128;
    const int group_h = group_2 % 16;
    const int group_3 = group_2 / 16;
    const int b0 = group_3;
    const int h0 = group_h;
    const int q0 = group_q * 32;
    using Rows = Fragment<2, 1>;
    const int warp_q = 0;  // first row of this warp

    // load Q
    copy_async<8>(Q_tile, Q, b0 * Q_stride_b + h0 * Q_stride_h + q0 * 64, 64, 32, 64, threadIdx.x,
                  kThreads);

    // load dO
    copy_async<8>(dO_tile, dO, b0 * dO_stride_b + h0 * dO_stride_h + q0 * 64, 64, 32, 64,
                  threadIdx.x, kThreads);
    commit_copies();

    // dQ_sum[b, h, q, d] = 0
    Fragment<2, 8> dQ_sum;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            dQ_sum(i, j) = 0.0f;
        }
    }

    // chunks of x
    int x_ahead = 0;  // the next chunk to load
    const auto load_x = [&](int x0, int stage) {
        copy_async<8>(K_tile(stage), K, b0 * K_stride_b + h0 * K_stride_h + x0 * 64, 64, 32, 64,
                      threadIdx.x, kThreads);
        copy_async<8>(V_tile(stage), V, b0 * V_stride_b + h0 * V_stride_h + x0 * 64, 64, 32, 64,
                      threadIdx.x, kThreads);
    };
    const auto chunk_x = [&](int x0, int stage) NK_INLINE {
        // S'[b, h, q, x] = sum(d) Q[b, h, q, d] * K[b, h, x, d] * rsqrt(size(d))
        // kept without its factor 0.125
        Fragment<2, 4> S;  // x of this warp
        S.fill(0.0f);
        multiply<Order::AsStored, Order::Transposed, 64>(S, Q_tile, warp_q, K_tile(stage), 0);

        // P'[b, h, q, x] = exp(S'[b, h, q, x] - L[b, h, q])
        Fragment<2, 4> P;  // x of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const int iq = warp_q + Rows::row(i);
            const float t0 = L[b0 * L_stride_b + h0 * L_stride_h + q0 + iq];
            const float r0 = t0 * 1.442695f;
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                P(i, j) = exp2_fast(S(i, j) * 0.18033688f - r0);
            }
        }

        // dP'[b, h, q, x] = sum(e) dO[b, h, q, e] * V[b, h, x, e]
        Fragment<2, 4> dP;  // x of this warp
        dP.fill(0.0f);
        multiply<Order::AsStored, Order::Transposed, 64>(dP, dO_tile, warp_q, V_tile(stage), 0);

        // dQ_factor[b, h, q, x] = P'[b, h, q, x] * (dP'[b, h, q, x] - D[b, h, q])
        Fragment<2, 4> dQ_factor;  // x of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const int iq = warp_q + Rows::row(i);
            const i64 t0 = b0 * D_stride_b + h0 * D_stride_h + q0 + iq;
            const float r0 = to_f32(D[t0]);
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                dQ_factor(i, j) = P(i, j) * (dP(i, j) - r0);
            }
        }

        // dQ_sum[b, h, q, d] = dQ_sum[b, h, q, d] + sum(x) dQ_factor[b, h, q, x] * K[b, h, x, d]
        const auto dQ_factor_left = as_left<bf16>(dQ_factor);  // rounded to bf16
        multiply<Order::AsStored>(dQ_sum, dQ_factor_left, K_tile(stage), 0, 0);
    };
    for (int stage = 0; stage < 1; ++stage) {
        if (x_ahead < 4096) {
            load_x(x_ahead, stage);
        }
        commit_copies();
        x_ahead += 32;
    }
    int stage = 0;
    for (int x0 = 0; x0 < 4096; x0 += 32) {
        wait_copies<0>();
        block_barrier();
        if (x_ahead < 4096) {
            load_x(x_ahead, (stage + 1) % 2);
        }
        commit_copies();
        chunk_x(x0, stage);
        x_ahead += 32;
        stage = (stage + 1) % 2;
    }

    // dQ[b, h, q, d] = dQ_sum[b, h, q, d] / sqrt(size(d))
    Fragment<2, 8> dQ_part;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            dQ_part(i, j) = dQ_sum(i, j) * 0.125f;
        }
    }
    wait_copies<1>();
    block_barrier();

    // save dQ
    store(dQ_part, dQ_staging, warp_q, 0);
    block_barrier();
    save_matrix<8>(dQ_staging, 0, 32, dQ, b0 * dQ_stride_b + h0 * dQ_stride_h + q0 * 64, 64, 32, 64,
                   threadIdx.x, kThreads);
}

}  // namespace nk
