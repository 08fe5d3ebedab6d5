// Diagram attention_backward, region dQ.
//   P[b = 4, h = 16, q = 4096, x = 4096] : f32
//   dS[b = 4, h = 16, q = 4096, x = 4096] : f32
//   dQ[b = 4, h = 16, q = 4096, d = 128] : bf16
// Derivation:
//   fuse S, P, dP, dS, dQ
//   group q by 32 in dQ
//   stream x by 32 in dQ
//   fuse dK, dV
//   group x by 32 in dV
//   stream q by 32 in dV
// Target sm_80, for sm_90.
// Schedule:
//   [dQ]
//   warps = 2
//   warps_down = 2
//   warps_across = 1
//   stages = { K = 2, V = 2 }
//   staged = { P = true, dQ = true, dS = true }
// 57344 bytes of shared memory
// chunks of 32 of x: 1276 clocks each, 0.60 of the bound of the tensor core
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 64;

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_backward_dQ(Global<const bf16> Q, Global<const float> L, Global<const bf16> dO,
                          Global<const float> D, Global<const bf16> K, Global<const bf16> V,
                          Global<float> P, Global<float> dS, Global<bf16> dQ, i64 Q_stride_b,
                          i64 Q_stride_h, i64 L_stride_b, i64 L_stride_h, i64 dO_stride_b,
                          i64 dO_stride_h, i64 D_stride_b, i64 D_stride_h, i64 K_stride_b,
                          i64 K_stride_h, i64 V_stride_b, i64 V_stride_h, i64 P_stride_b,
                          i64 P_stride_h, i64 dS_stride_b, i64 dS_stride_h, i64 dQ_stride_b,
                          i64 dQ_stride_h) {
    // Shared memory: 57344 bytes.
    NK_SHARED_MEMORY(memory);
    // Q_tile: 32 x 128
    const auto Q_tile = shared_matrix<bf16, 32, 128>(memory, 0, "Q_tile");
    // dO_tile: 32 x 128
    const auto dO_tile = shared_matrix<bf16, 32, 128>(memory, 8192, "dO_tile");
    // K_tile: 32 x 128, 2 stages
    const auto K_tile = [&](int stage) {
        return shared_matrix<bf16, 32, 128>(memory, 16384 + stage * 8192, "K_tile");
    };
    // V_tile: 32 x 128, 2 stages
    const auto V_tile = [&](int stage) {
        return shared_matrix<bf16, 32, 128>(memory, 32768 + stage * 8192, "V_tile");
    };
    // P_staging: 32 x 32
    const auto P_staging = shared_matrix<float, 32, 32>(memory, 49152, "P_staging");
    // dS_staging: 32 x 32
    const auto dS_staging = shared_matrix<float, 32, 32>(memory, 53248, "dS_staging");
    // dQ_staging: 32 x 128
    const auto dQ_staging = shared_matrix<bf16, 32, 128>(memory, 0, "dQ_staging");
    const int group_q = int(blockIdx.x) % 128;
    const int group_2 = int(blockIdx.x) / 128;
    const int group_h = group_2 % 16;
    const int group_3 = group_2 / 16;
    const int b0 = group_3;
    const int h0 = group_h;
    const int q0 = group_q * 32;
    using Rows = Fragment<1, 1>;
    const int warp_q = warp_index() * 16;  // first row of this warp

    // load Q
    copy_async<8>(Q_tile, Q, b0 * Q_stride_b + h0 * Q_stride_h + q0 * 128, 128, 32, 128,
                  threadIdx.x, kThreads);

    // load dO
    copy_async<8>(dO_tile, dO, b0 * dO_stride_b + h0 * dO_stride_h + q0 * 128, 128, 32, 128,
                  threadIdx.x, kThreads);
    commit_copies();

    // dQ_sum[b, h, q, d] = 0
    Fragment<1, 16> dQ_sum;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 32; ++j) {
            dQ_sum(i, j) = 0.0f;
        }
    }

    // chunks of x
    int x_ahead = 0;  // the next chunk to load
    const auto load_x = [&](int x0, int stage) {
        copy_async<8>(K_tile(stage), K, b0 * K_stride_b + h0 * K_stride_h + x0 * 128, 128, 32, 128,
                      threadIdx.x, kThreads);
        copy_async<8>(V_tile(stage), V, b0 * V_stride_b + h0 * V_stride_h + x0 * 128, 128, 32, 128,
                      threadIdx.x, kThreads);
    };
    const auto chunk_x = [&](int x0, int stage) NK_INLINE {
        // S[b, h, q, x] = sum(d) Q[b, h, q, d] * K[b, h, x, d] * rsqrt(size(d))
        // kept without its factor 0.0883883
        Fragment<1, 4> S;  // x of this warp
        S.fill(0.0f);
        multiply<Order::AsStored, Order::Transposed, 128>(S, Q_tile, warp_q, K_tile(stage), 0);

        // P[b, h, q, x] = exp(S[b, h, q, x] - L[b, h, q])
        Fragment<1, 4> P_part;  // x of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const int iq = warp_q + Rows::row(i);
            const float t0 = L[b0 * L_stride_b + h0 * L_stride_h + q0 + iq];
            const float r0 = t0 * 1.442695f;
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                P_part(i, j) = exp2_fast(S(i, j) * 0.12751743f - r0);
            }
        }

        // dP[b, h, q, x] = sum(d) dO[b, h, q, d] * V[b, h, x, d]
        Fragment<1, 4> dP;  // x of this warp
        dP.fill(0.0f);
        multiply<Order::AsStored, Order::Transposed, 128>(dP, dO_tile, warp_q, V_tile(stage), 0);

        // dS[b, h, q, x] = P[b, h, q, x] * (dP[b, h, q, x] - D[b, h, q]) * rsqrt(size(d))
        Fragment<1, 4> dS_part;  // x of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const int iq = warp_q + Rows::row(i);
            const float r0 = D[b0 * D_stride_b + h0 * D_stride_h + q0 + iq];
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                dS_part(i, j) = P_part(i, j) * (dP(i, j) - r0) * 0.088388346f;
            }
        }

        // dQ_factor[b, h, q, x] = P[b, h, q, x] * (dP[b, h, q, x] - D[b, h, q])
        Fragment<1, 4> dQ_factor;  // x of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const int iq = warp_q + Rows::row(i);
            const float r0 = D[b0 * D_stride_b + h0 * D_stride_h + q0 + iq];
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                dQ_factor(i, j) = P_part(i, j) * (dP(i, j) - r0);
            }
        }

        // dQ_sum[b, h, q, d] = dQ_sum[b, h, q, d] + sum(x) dQ_factor[b, h, q, x] * K[b, h, x, d]
        const auto dQ_factor_left = as_left<bf16>(dQ_factor);  // rounded to bf16
        multiply<Order::AsStored>(dQ_sum, dQ_factor_left, K_tile(stage), 0, 0);

        // save P
        store(P_part, P_staging, warp_q, 0);
        block_barrier();
        save_matrix<4>(P_staging, 0, 32, P, b0 * P_stride_b + h0 * P_stride_h + q0 * 4096 + x0,
                       4096, 32, 32, threadIdx.x, kThreads);

        // save dS
        store(dS_part, dS_staging, warp_q, 0);
        block_barrier();
        save_matrix<4>(dS_staging, 0, 32, dS, b0 * dS_stride_b + h0 * dS_stride_h + q0 * 4096 + x0,
                       4096, 32, 32, threadIdx.x, kThreads);
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
        if (x_ahead < 4096) {
            load_x(x_ahead, (stage + 1) % 2);
        }
        commit_copies();
        wait_copies<1>();
        block_barrier();
        chunk_x(x0, stage);
        x_ahead += 32;
        stage = (stage + 1) % 2;
    }

    // dQ[b, h, q, d] = dQ_sum[b, h, q, d] / sqrt(size(d))
    Fragment<1, 16> dQ_part;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 32; ++j) {
            dQ_part(i, j) = dQ_sum(i, j) * 0.088388346f;
        }
    }
    wait_copies<1>();
    block_barrier();

    // save dQ
    store(dQ_part, dQ_staging, warp_q, 0);
    block_barrier();
    save_matrix<8>(dQ_staging, 0, 32, dQ, b0 * dQ_stride_b + h0 * dQ_stride_h + q0 * 128, 128, 32,
                   128, threadIdx.x, kThreads);
}

}  // namespace nk
// Diagram attention_backward, region dV.
//   dK[b = 4, h = 16, x = 4096, d = 128] : bf16
//   dV[b = 4, h = 16, x = 4096, d = 128] : bf16
// Derivation:
//   fuse S, P, dP, dS, dQ
//   group q by 32 in dQ
//   stream x by 32 in dQ
//   fuse dK, dV
//   group x by 32 in dV
//   stream q by 32 in dV
// Target sm_80, for sm_90.
// Schedule:
//   [dV]
//   warps = 4
//   warps_down = 1
//   warps_across = 4
//   stages = { P = 3, Q = 4, dO = 4, dS = 3 }
//   leads."fetch the first operands of dK_sum" = 0
//   leads."fetch the first operands of dV_sum" = 0
//   leads."publish dK_sum_left" = 1
//   leads."publish dV_sum_left" = 1
//   fetched = { dK_sum = true, dV_sum = true }
//   staged = { dK = true, dV = true }
// 98304 bytes of shared memory
// chunks of 32 of q: 320 clocks each, 0.80 of the bound of the tensor core
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_backward_dV(Global<const float> dS, Global<const bf16> Q, Global<const float> P,
                          Global<const bf16> dO, Global<bf16> dK, Global<bf16> dV, i64 dS_stride_b,
                          i64 dS_stride_h, i64 Q_stride_b, i64 Q_stride_h, i64 P_stride_b,
                          i64 P_stride_h, i64 dO_stride_b, i64 dO_stride_h, i64 dK_stride_b,
                          i64 dK_stride_h, i64 dV_stride_b, i64 dV_stride_h) {
    // Shared memory: 98304 bytes.
    NK_SHARED_MEMORY(memory);
    // dS_tile: 32 x 32, 3 stages
    const auto dS_tile = [&](int stage) {
        return shared_matrix<float, 32, 32>(memory, stage * 4096, "dS_tile");
    };
    // Q_tile: 32 x 128, 4 stages
    const auto Q_tile = [&](int stage) {
        return shared_matrix<bf16, 32, 128>(memory, 12288 + stage * 8192, "Q_tile");
    };
    // P_tile: 32 x 32, 3 stages
    const auto P_tile = [&](int stage) {
        return shared_matrix<float, 32, 32>(memory, 45056 + stage * 4096, "P_tile");
    };
    // dO_tile: 32 x 128, 4 stages
    const auto dO_tile = [&](int stage) {
        return shared_matrix<bf16, 32, 128>(memory, 57344 + stage * 8192, "dO_tile");
    };
    // dK_sum_left_tile: 32 x 32, 2 stages
    const auto dK_sum_left_tile = [&](int stage) {
        return shared_matrix<bf16, 32, 32>(memory, 90112 + stage * 2048, "dK_sum_left_tile");
    };
    // dV_sum_left_tile: 32 x 32, 2 stages
    const auto dV_sum_left_tile = [&](int stage) {
        return shared_matrix<bf16, 32, 32>(memory, 94208 + stage * 2048, "dV_sum_left_tile");
    };
    // dK_staging: 32 x 128
    const auto dK_staging = shared_matrix<bf16, 32, 128>(memory, 0, "dK_staging");
    // dV_staging: 32 x 128
    const auto dV_staging = shared_matrix<bf16, 32, 128>(memory, 0, "dV_staging");
    const int group_x = int(blockIdx.x) % 128;
    const int group_2 = int(blockIdx.x) / 128;
    const int group_h = group_2 % 16;
    const int group_3 = group_2 / 16;
    const int b0 = group_3;
    const int h0 = group_h;
    const int x0 = group_x * 32;
    using Rows = Fragment<2, 1>;
    const int warp_x = warp_index() / 4 * 32;  // first row of this warp
    const int warp_d = warp_index() % 4 * 32;  // and its first column

    // dK_sum[b, h, x, d] = 0
    Fragment<2, 4> dK_sum;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            dK_sum(i, j) = 0.0f;
        }
    }

    // dV_sum[b, h, x, d] = 0
    Fragment<2, 4> dV_sum;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            dV_sum(i, j) = 0.0f;
        }
    }

    // chunks of q
    int q_next = 0;
    int q_ahead = 0;  // the next chunk to load
    const auto load_q = [&](int q0, int slot_2, int stage, int slot) {
        copy_async<4>(dS_tile(stage), dS, b0 * dS_stride_b + h0 * dS_stride_h + q0 * 4096 + x0,
                      4096, 32, 32, threadIdx.x, kThreads);
        copy_async<8>(Q_tile(slot), Q, b0 * Q_stride_b + h0 * Q_stride_h + q0 * 128, 128, 32, 128,
                      threadIdx.x, kThreads);
        copy_async<4>(P_tile(stage), P, b0 * P_stride_b + h0 * P_stride_h + q0 * 4096 + x0, 4096,
                      32, 32, threadIdx.x, kThreads);
        copy_async<8>(dO_tile(slot), dO, b0 * dO_stride_b + h0 * dO_stride_h + q0 * 128, 128, 32,
                      128, threadIdx.x, kThreads);
    };
    const auto publish_q = [&](int q0, int slot_2, int stage, int slot) NK_INLINE {
        // left operand of dK_sum: dS[b, h, q, x]
        const auto values_at_once = [&](int iq, int ix_first, auto& values) {
            const auto v = values_of<8>(dS_tile(stage), iq, ix_first);
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                values[j] = v[j];
            }
        };
        publish(dK_sum_left_tile(slot_2), threadIdx.x, kThreads, values_at_once);
    };
    const auto publish_q_2 = [&](int q0, int slot_2, int stage, int slot) NK_INLINE {
        // left operand of dV_sum: P[b, h, q, x]
        const auto values_at_once_2 = [&](int iq, int ix_first_2, auto& values_2) {
            const auto v_2 = values_of<8>(P_tile(stage), iq, ix_first_2);
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                values_2[j] = v_2[j];
            }
        };
        publish(dV_sum_left_tile(slot_2), threadIdx.x, kThreads, values_at_once_2);
    };
    const auto chunk_q = [&](int q0, int slot_2, int stage, int slot, auto more) NK_INLINE {
        Operands<bf16, 2, 4> operands;
        fetch_first<Order::Transposed, Order::AsStored, 32>(operands, dK_sum_left_tile(slot_2),
                                                            warp_x, Q_tile(slot), warp_d);
        if (more.value) {
            publish_q(q_next, (slot_2 + 1) % 2, (stage + 1) % 3, (slot + 1) % 4);
        }
        if (more.value) {
            publish_q_2(q_next, (slot_2 + 1) % 2, (stage + 1) % 3, (slot + 1) % 4);
        }
        Operands<bf16, 2, 4> operands_2;
        fetch_first<Order::Transposed, Order::AsStored, 32>(operands_2, dV_sum_left_tile(slot_2),
                                                            warp_x, dO_tile(slot), warp_d);

        // dK_sum[b, h, x, d] = dK_sum[b, h, x, d] + sum(q) dS[b, h, q, x] * Q[b, h, q, d]
        multiply_head<Order::Transposed, Order::AsStored, 32>(
            dK_sum, operands, dK_sum_left_tile(slot_2), warp_x, Q_tile(slot), warp_d);
        multiply_tail(dK_sum, operands);

        // dV_sum[b, h, x, d] = dV_sum[b, h, x, d] + sum(q) P[b, h, q, x] * dO[b, h, q, d]
        multiply_head<Order::Transposed, Order::AsStored, 32>(
            dV_sum, operands_2, dV_sum_left_tile(slot_2), warp_x, dO_tile(slot), warp_d);
        multiply_tail(dV_sum, operands_2);
    };
    for (int slot = 0; slot < 2; ++slot) {
        if (q_ahead < 4096) {
            load_q(q_ahead, slot, slot, slot);
        }
        commit_copies();
        q_ahead += 32;
    }
    wait_copies<1>();
    block_barrier();
    if (q_ahead < 4096) {
        load_q(q_ahead, 0, 2, 2);
    }
    commit_copies();
    if (q_next < 4096) {
        publish_q(q_next, 0, 0, 0);
    }
    if (q_next < 4096) {
        publish_q_2(q_next, 0, 0, 0);
    }
    q_next += 32;
    q_ahead += 32;
    int slot_2 = 0;
    int stage = 0;
    int slot = 0;
    int q0 = 0;
    if (q_next < 4096) {
        do {
            wait_copies<1>();
            block_barrier();
            if (q_ahead < 4096) {
                load_q(q_ahead, (slot_2 + 1) % 2, stage, (slot + 3) % 4);
            }
            commit_copies();
            chunk_q(q0, slot_2, stage, slot, Flag<true>());
            q_next += 32;
            q_ahead += 32;
            slot_2 = (slot_2 + 1) % 2;
            stage = (stage + 1) % 3;
            slot = (slot + 1) % 4;
            q0 += 32;
        } while (q_next < 4096);
    }
    if (q0 < 4096) {
        wait_copies<1>();
        block_barrier();
        commit_copies();
        chunk_q(q0, slot_2, stage, slot, Flag<false>());
    }

    // dK[b, h, x, d] = dK_sum[b, h, x, d]
    Fragment<2, 4> dK_part;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            dK_part(i, j) = dK_sum(i, j);
        }
    }

    // dV[b, h, x, d] = dV_sum[b, h, x, d]
    Fragment<2, 4> dV_part;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            dV_part(i, j) = dV_sum(i, j);
        }
    }

    // save dK
    store(dK_part, dK_staging, warp_x, warp_d);
    block_barrier();
    save_matrix<8>(dK_staging, 0, 32, dK, b0 * dK_stride_b + h0 * dK_stride_h + x0 * 128, 128, 32,
                   128, threadIdx.x, kThreads);
    block_barrier();

    // save dV
    store(dV_part, dV_staging, warp_x, warp_d);
    block_barrier();
    save_matrix<8>(dV_staging, 0, 32, dV, b0 * dV_stride_b + h0 * dV_stride_h + x0 * 128, 128, 32,
                   128, threadIdx.x, kThreads);
}

}  // namespace nk
