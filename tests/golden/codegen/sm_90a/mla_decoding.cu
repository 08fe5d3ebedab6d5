// Diagram mla_decoding, region O_sum_part.
//   O_sum_part[x_part = 4, b = 32, q = 16, e = 512] : f32
//   P_max_part[x_part = 4, b = 32, q = 16] : f32
//   P_sum_part[x_part = 4, b = 32, q = 16] : f32
// Derivation:
//   fuse S, P, O
//   stream x by 64
//   split-stream x by 2048
//   group q by 2 in O
//   schedule warps_down = 4 in O_sum_part
// Target sm_90a, for sm_90.
// Schedule:
//   [O_sum_part]
//   warps = 8
//   warps_down = 4
//   warps_across = 2
//   repeated = false
//   persistent = false
//   stages = { C = 2, C_turned = 2 }
//   leads."bring up to date O_sum_part_sum" = 0
//   leads."compute P_max_part_max" = 0
//   leads."compute P_max_part_max_new" = 0
//   leads."compute P_sum_part_repair" = 0
//   leads."compute P_sum_part_sum" = 0
//   leads."compute P_sum_part_weight" = 0
//   leads."compute S" = 0
//   leads."multiply O_sum_part_sum" = 0
//   leads."multiply S.1" = 0
//   leads."multiply S.2" = 0
//   leads."publish O_sum_part_sum_left" = 0
//   leads."share the parts of P_max_part_max_new" = 0
//   staged = { O_sum_part = true }
// 230784 bytes of shared memory
// chunks of 64 of x_in: 2980 clocks each, 0.73 of the bound of the tensor core
#include "hopper_tensor.cuh"

namespace nk {

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads + 128, 1) mla_decoding_O_sum_part(
    Global<const bf16> Q, Global<const bf16> Q_turned, Global<const bf16> C,
    Global<const bf16> C_turned, Global<float> P_max_part, Global<float> P_sum_part,
    Global<float> O_sum_part, const __grid_constant__ TensorMap Q_map,
    const __grid_constant__ TensorMap Q_turned_map, const __grid_constant__ TensorMap C_map,
    const __grid_constant__ TensorMap C_turned_map, float scale, i64 P_max_part_stride_x_part,
    i64 P_max_part_stride_b, i64 P_sum_part_stride_x_part, i64 P_sum_part_stride_b,
    i64 O_sum_part_stride_x_part, i64 O_sum_part_stride_b) {
    // Shared memory: 230784 bytes.
    NK_SHARED_MEMORY(memory);
    // Q_tile: 64 x 512
    const auto Q_tile = shared_panels<bf16, 64, 512>(memory, 0, "Q_tile");
    // Q_turned_tile: 64 x 64
    const auto Q_turned_tile = shared_panels<bf16, 64, 64>(memory, 65536, "Q_turned_tile");
    // C_tile: 64 x 512, 2 stages
    const auto C_tile = [&](int stage) {
        return shared_panels<bf16, 64, 512>(memory, 73728 + stage * 65536, "C_tile");
    };
    // C_turned_tile: 64 x 64, 2 stages
    const auto C_turned_tile = [&](int stage) {
        return shared_panels<bf16, 64, 64>(memory, 204800 + stage * 8192, "C_turned_tile");
    };
    // P_max_part_max_new_parts_tile: a value of every row, from each that shares it
    const auto P_max_part_max_new_parts_tile =
        shared_tile<float>(memory, 221184, 256, "P_max_part_max_new_parts_tile");
    // O_sum_part_sum_left_tile: 64 x 64
    const auto O_sum_part_sum_left_tile =
        shared_panels<bf16, 64, 64>(memory, 222208, "O_sum_part_sum_left_tile");
    // P_sum_part_sum_parts_tile: a value of every row, from each that shares it
    const auto P_sum_part_sum_parts_tile =
        shared_tile<float>(memory, 0, 256, "P_sum_part_sum_parts_tile");
    // O_sum_part_staging: 64 x 512
    const auto O_sum_part_staging = shared_matrix<float, 64, 512>(memory, 0, "O_sum_part_staging");
    const int group_x_part = int(blockIdx.x) % 4;
    const int group_2 = int(blockIdx.x) / 4;
    const int b0 = group_2;
    const int x_part0 = group_x_part;
    using Rows = Fragment<1, 1>;
    const int warp_q = group_row<2>() + warp_index() % 4 * 16;  // first row of this warp
    // and its first column
    const int warp_e = group_across<2>() * 256;
    const int warp_x_in = group_across<2>() * 32;  // and its first column
    const auto C_ring = shared_ring<2>(memory, 230400, "C_ring");
    const auto C_turned_ring = shared_ring<2>(memory, 230528, "C_turned_ring");
    const auto Q_ring = shared_ring<1>(memory, 230656, "Q_ring");
    if (threadIdx.x == 0) {
        C_ring.start(1, 8);
        C_turned_ring.start(1, 8);
        Q_ring.start(1, 8);
        fence_barriers();
    }
    block_barrier();
    if (threadIdx.x >= kThreads) {
        // This warp group copies for the others.
        give_up_registers<24>();
        if (threadIdx.x == kThreads) {
            int chunk_of_x_in = 0;
            Q_ring.fill(0, 73728);

            // load Q
            load_panels(Q_tile, Q_map, {0, 0, b0}, Q_ring, 0);

            // load Q_turned
            load_panels(Q_turned_tile, Q_turned_map, {0, 0, b0}, Q_ring, 0);
            for (int x_in0 = 0; x_in0 < 2048; x_in0 += 64) {
                C_ring.fill(chunk_of_x_in, 65536);

                // load C
                load_panels(C_tile(chunk_of_x_in % 2), C_map, {0, x_part0 * 2048 + x_in0, b0},
                            C_ring, chunk_of_x_in);
                C_turned_ring.fill(chunk_of_x_in, 8192);

                // load C_turned
                load_panels(C_turned_tile(chunk_of_x_in % 2), C_turned_map,
                            {0, x_part0 * 2048 + x_in0, b0}, C_turned_ring, chunk_of_x_in);
                chunk_of_x_in += 1;
            }
        }
        return;
    }

    // The others compute.
    take_registers<240>();
    int chunk_of_x_in_2 = 0;

    // P_max_part_max[x_part, b, q] = -inf
    float P_max_part_max[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_max_part_max[i] = minus_infinity();
    }

    // P_sum_part_sum[x_part, b, q] = 0
    float P_sum_part_sum[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_sum_part_sum[i] = 0.0f;
    }

    // O_sum_part_sum[x_part, b, q, e] = 0
    Fragment<1, 32> O_sum_part_sum;  // e of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 64; ++j) {
            O_sum_part_sum(i, j) = 0.0f;
        }
    }
    Q_ring.wait_filled(0);

    // chunks of x_in
    const auto chunk_x_in = [&](int x_in0_2) NK_INLINE {
        C_ring.wait_filled(chunk_of_x_in_2);

        // S.1[x_part, b, q, x_in] = sum(e) Q[b, q, e] * C[b, x_in, e]
        Fragment<1, 4> S_1;  // x_in of this warp
        start_multiply<Order::AsStored, Order::Transposed, 512>(
            S_1, Q_tile, group_row<2>(), C_tile(chunk_of_x_in_2 % 2), warp_x_in, false);
        C_turned_ring.wait_filled(chunk_of_x_in_2);

        // S.2[x_part, b, q, x_in] = sum(r) Q_turned[b, q, r] * C_turned[b, x_in, r]
        Fragment<1, 4> S_2;  // x_in of this warp
        start_multiply<Order::AsStored, Order::Transposed, 64>(S_2, Q_turned_tile, group_row<2>(),
                                                               C_turned_tile(chunk_of_x_in_2 % 2),
                                                               warp_x_in, false);
        finish_multiply<1>(S_1);
        finish_multiply<0>(S_2);
        C_turned_ring.release(chunk_of_x_in_2);

        // S[x_part, b, q, x_in] = S.1[x_part, b, q, x_in] + S.2[x_part, b, q, x_in]
        Fragment<1, 4> S;  // x_in of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                S(i, j) = S_1(i, j) + S_2(i, j);
            }
        }

        // the parts of P_max_part_max_new: P_max_part_max_new[x_part, b, q] =
        // max(P_max_part_max[x_part, b, q], max(x_in) S[x_part, b, q, x_in] * scale)
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const int iq = warp_q + Rows::row(i);
            float acc = minus_infinity();
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                acc = maximum(acc, S(i, j) * scale);
            }
            acc = row_maximum<Rows>(acc);
            const float part = acc;
            if (lane_index() % Rows::lanes_per_row == 0) {
                P_max_part_max_new_parts_tile[warp_index() / 4 % 2 * 64 + iq] = part;
            }
        }
        fence_async();
        named_barrier(1, kThreads);

        // P_max_part_max_new[x_part, b, q] = max(P_max_part_max[x_part, b, q], max(x_in) S[x_part,
        // b, q, x_in] * scale)
        float P_max_part_max_new[Rows::rows];
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const int iq = warp_q + Rows::row(i);
            float all = P_max_part_max_new_parts_tile[iq];
            all = maximum(all, P_max_part_max_new_parts_tile[64 + iq]);
            P_max_part_max_new[i] = maximum(P_max_part_max[i], all);
        }

        // P_sum_part_weight[x_part, b, q, x_in] = exp(S[x_part, b, q, x_in] * scale -
        // guard(P_max_part_max_new[x_part, b, q]))
        Fragment<1, 4> P_sum_part_weight;  // x_in of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const float r0 = absolute(P_max_part_max_new[i]) >= 67108864.0f ? 1.0f : 1.442695f;
            const float r1 = guard(P_max_part_max_new[i]) * r0;
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                P_sum_part_weight(i, j) = exp2_fast(S(i, j) * scale * r0 - r1);
            }
        }

        // P_sum_part_repair[x_part, b, q] = exp(P_max_part_max[x_part, b, q] -
        // guard(P_max_part_max_new[x_part, b, q]))
        float P_sum_part_repair[Rows::rows];
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const float t0 = guard(P_max_part_max_new[i]);
            P_sum_part_repair[i] = exp2_fast((P_max_part_max[i] - t0) * 1.442695f);
        }

        // P_sum_part_sum[x_part, b, q] = P_sum_part_sum[x_part, b, q] * P_sum_part_repair[x_part,
        // b, q] + sum(x_in) P_sum_part_weight[x_part, b, q, x_in]
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            float acc = 0.0f;
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                acc = acc + P_sum_part_weight(i, j);
            }
            P_sum_part_sum[i] = P_sum_part_sum[i] * P_sum_part_repair[i] + acc;
        }

        // left operand of O_sum_part_sum: P_sum_part_weight[x_part, b, q, x_in]
        store(P_sum_part_weight, O_sum_part_sum_left_tile, warp_q, warp_x_in);
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
            for (int j = 0; j < 64; ++j) {
                O_sum_part_sum(i, j) = O_sum_part_sum(i, j) * P_sum_part_repair[i];
            }
        }
        fence_async();
        named_barrier(1, kThreads);

        // O_sum_part_sum[x_part, b, q, e] = O_sum_part_sum[x_part, b, q, e] *
        // P_sum_part_repair[x_part, b, q] + sum(x_in) P_sum_part_weight[x_part, b, q, x_in] * C[b,
        // x_in, e]
        start_multiply<Order::AsStored, Order::AsStored, 64>(
            O_sum_part_sum, O_sum_part_sum_left_tile, group_row<2>(), C_tile(chunk_of_x_in_2 % 2),
            warp_e, true);

        // P_max_part_max[x_part, b, q] = P_max_part_max_new[x_part, b, q]
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            P_max_part_max[i] = P_max_part_max_new[i];
        }
        finish_multiply<0>(O_sum_part_sum);
        C_ring.release(chunk_of_x_in_2);
    };
    for (int x_in0_2 = 0; x_in0_2 < 2048; x_in0_2 += 64) {
        chunk_x_in(x_in0_2);
        chunk_of_x_in_2 += 1;
    }

    // the parts of P_sum_part_sum: P_sum_part_sum[x_part, b, q] = P_sum_part_sum[x_part, b, q] *
    // P_sum_part_repair[x_part, b, q] + sum(x_in) P_sum_part_weight[x_part, b, q, x_in]
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int iq = warp_q + Rows::row(i);
        const float part = row_sum<Rows>(P_sum_part_sum[i]);
        if (lane_index() % Rows::lanes_per_row == 0) {
            P_sum_part_sum_parts_tile[warp_index() / 4 % 2 * 64 + iq] = part;
        }
    }
    fence_async();
    named_barrier(1, kThreads);

    // P_sum_part_sum of all lanes of a row
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int iq = warp_q + Rows::row(i);
        float all = P_sum_part_sum_parts_tile[iq];
        all = add(all, P_sum_part_sum_parts_tile[64 + iq]);
        P_sum_part_sum[i] = all;
    }

    // P_max_part[x_part, b, q] = P_max_part_max[x_part, b, q]
    float P_max_part_part[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_max_part_part[i] = P_max_part_max[i];
    }

    // P_sum_part[x_part, b, q] = P_sum_part_sum[x_part, b, q]
    float P_sum_part_part[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_sum_part_part[i] = P_sum_part_sum[i];
    }

    // O_sum_part[x_part, b, q, e] = O_sum_part_sum[x_part, b, q, e]
    Fragment<1, 32> O_sum_part_part;  // e of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 64; ++j) {
            O_sum_part_part(i, j) = O_sum_part_sum(i, j);
        }
    }

    // save P_max_part
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int iq = warp_q + Rows::row(i);
        if (lane_index() % Rows::lanes_per_row == 0 && warp_index() / 4 % 2 == 0 && iq < 16) {
            const i64 at = x_part0 * P_max_part_stride_x_part + b0 * P_max_part_stride_b + iq;
            P_max_part[at] = P_max_part_part[i];
        }
    }

    // save P_sum_part
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int iq = warp_q + Rows::row(i);
        if (lane_index() % Rows::lanes_per_row == 0 && warp_index() / 4 % 2 == 0 && iq < 16) {
            const i64 at = x_part0 * P_sum_part_stride_x_part + b0 * P_sum_part_stride_b + iq;
            P_sum_part[at] = P_sum_part_part[i];
        }
    }
    fence_async();
    named_barrier(1, kThreads);

    // save O_sum_part
    store(O_sum_part_part, O_sum_part_staging, warp_q, warp_e);
    fence_async();
    named_barrier(1, kThreads);
    save_matrix<4>(O_sum_part_staging, 0, 64, O_sum_part,
                   x_part0 * O_sum_part_stride_x_part + b0 * O_sum_part_stride_b, 512, 16, 512,
                   threadIdx.x, kThreads);
}

}  // namespace nk
