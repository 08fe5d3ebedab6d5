// Diagram attention, region S.
//   S[b = 4, h = 16, q = 4096, x = 4096] : bf16
// Derivation:
//   group q by 64 in S
//   group x by 64 in S
//   group q by 4 in P
//   group q by 64 in O
//   stream x by 64 in O
// Target sm_80, for sm_90.
// Schedule:
//   [S]
//   warps = 4
//   warps_down = 2
//   warps_across = 2
//   staged = { S = true }
// 32768 bytes of shared memory
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_S(Global<const bf16> Q, Global<const bf16> K, Global<bf16> S, i64 Q_stride_b,
                i64 Q_stride_h, i64 K_stride_b, i64 K_stride_h, i64 S_stride_b, i64 S_stride_h) {
    // Shared memory: 32768 bytes.
    NK_SHARED_MEMORY(memory);
    // Q_tile: 64 x 128
    const auto Q_tile = shared_matrix<bf16, 64, 128>(memory, 0, "Q_tile");
    // K_tile: 64 x 128
    const auto K_tile = shared_matrix<bf16, 64, 128>(memory, 16384, "K_tile");
    // S_staging: 64 x 64
    const auto S_staging = shared_matrix<bf16, 64, 64>(memory, 0, "S_staging");
    const int plane = int(blockIdx.x) % 4096;
    const int group_2 = int(blockIdx.x) / 4096;
    const int band = plane / 1024 * 16;
    const int band_height = minimum(16, 64 - band);
    const int group_q = band + plane % 1024 % band_height;
    const int group_x = plane % 1024 / band_height;
    const int group_h = group_2 % 16;
    const int group_3 = group_2 / 16;
    const int b0 = group_3;
    const int h0 = group_h;
    const int q0 = group_q * 64;
    const int x0 = group_x * 64;
    using Rows = Fragment<2, 1>;
    const int warp_q = warp_index() / 2 * 32;  // first row of this warp
    const int warp_x = warp_index() % 2 * 32;  // and its first column

    // load Q
    copy_async<8>(Q_tile, Q, b0 * Q_stride_b + h0 * Q_stride_h + q0 * 128, 128, 64, 128,
                  threadIdx.x, kThreads);

    // load K
    copy_async<8>(K_tile, K, b0 * K_stride_b + h0 * K_stride_h + x0 * 128, 128, 64, 128,
                  threadIdx.x, kThreads);
    commit_copies();
    wait_copies<0>();
    block_barrier();

    // S[b, h, q, x] = sum(d) Q[b, h, q, d] * K[b, h, x, d] * rsqrt(size(d))
    Fragment<2, 4> S_part;  // x of this warp
    Fragment<2, 4> S_part_sum;
    S_part_sum.fill(0.0f);
    multiply<Order::AsStored, Order::Transposed, 128>(S_part_sum, Q_tile, warp_q, K_tile, warp_x);
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            S_part(i, j) = S_part_sum(i, j) * 0.088388346f;
        }
    }
    block_barrier();

    // save S
    store(S_part, S_staging, warp_q, warp_x);
    block_barrier();
    save_matrix<8>(S_staging, 0, 64, S, b0 * S_stride_b + h0 * S_stride_h + q0 * 4096 + x0, 4096,
                   64, 64, threadIdx.x, kThreads);
}

}  // namespace nk
// Diagram attention, region P.
//   P[b = 4, h = 16, q = 4096, x = 4096] : bf16
// Derivation:
//   group q by 64 in S
//   group x by 64 in S
//   group q by 4 in P
//   group q by 64 in O
//   stream x by 64 in O
// Target sm_80, for sm_90.
// Schedule:
//   [P]
//   warps = 8
//   warps_down = 4
//   warps_across = 2
// 128 bytes of shared memory
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_P(Global<const bf16> S, Global<bf16> P, i64 S_stride_b, i64 S_stride_h,
                i64 P_stride_b, i64 P_stride_h) {
    // Shared memory: 128 bytes.
    NK_SHARED_MEMORY(memory);
    // scratch: a value of every warp
    const auto scratch = shared_tile<float>(memory, 0, 8, "scratch");
    const int group_q = int(blockIdx.x) % 1024;
    const int group_2 = int(blockIdx.x) / 1024;
    const int group_h = group_2 % 16;
    const int group_3 = group_2 / 16;
    const int b0 = group_3;
    const int h0 = group_h;
    const int q0 = group_q * 4;
    using Rows = RowFragment<1, 1, 8, 64>;
    const int warp_q = warp_index() / 2;  // first row of this warp

    // load S
    RowFragment<1, 8, 8, 64> S_part;  // x of this warp
    load_rows(S_part, S, b0 * S_stride_b + h0 * S_stride_h + q0 * 4096 + warp_q * 4096, 4096,
              4 - warp_q, 4096);

    // P.1[b, h, q] = max(x) S[b, h, q, x]
    float P_1[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        float acc = minus_infinity();
#pragma unroll
        for (int j = 0; j < 64; ++j) {
            acc = maximum(acc, S_part(i, j));
        }
        acc = block_maximum<Rows::lanes_per_row>(acc, scratch);
        P_1[i] = acc;
    }

    // P.2[b, h, q] = sum(x) exp(S[b, h, q, x] - guard(P.1[b, h, q]))
    float P_2[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const float r0 = absolute(P_1[i]) >= 67108864.0f ? 1.0f : 1.442695f;
        const float r1 = guard(P_1[i]) * r0;
        float acc = 0.0f;
#pragma unroll
        for (int j = 0; j < 64; ++j) {
            acc = acc + exp2_gradual(S_part(i, j) * r0 - r1);
        }
        acc = block_sum<Rows::lanes_per_row>(acc, scratch);
        P_2[i] = acc;
    }

    // P[b, h, q, x] = exp(S[b, h, q, x] - guard(P.1[b, h, q])) / P.2[b, h, q]
    RowFragment<1, 8, 8, 64> P_part;  // x of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const float r0 = absolute(P_1[i]) >= 67108864.0f ? 1.0f : 1.442695f;
        const float r1 = guard(P_1[i]) * r0;
        const float r2 = divide_fast(1.0f, P_2[i]);
#pragma unroll
        for (int j = 0; j < 64; ++j) {
            P_part(i, j) = multiply(exp2_gradual(S_part(i, j) * r0 - r1), r2);
        }
    }

    // save P
    save_rows(P_part, P, b0 * P_stride_b + h0 * P_stride_h + q0 * 4096 + warp_q * 4096, 4096,
              4 - warp_q, 4096);
}

}  // namespace nk
// Diagram attention, region O.
//   O[b = 4, h = 16, q = 4096, d = 128] : bf16
// Derivation:
//   group q by 64 in S
//   group x by 64 in S
//   group q by 4 in P
//   group q by 64 in O
//   stream x by 64 in O
// Target sm_80, for sm_90.
// Schedule:
//   [O]
//   warps = 4
//   warps_down = 1
//   warps_across = 4
//   stages = { P = 4, V = 4 }
//   leads = { "fetch the first operands of O_sum" = 1 }
//   fetched = { O_sum = true }
//   staged = { O = true }
// 98304 bytes of shared memory
// chunks of 64 of x: 512 clocks each, 1.00 of the bound of the tensor core
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_O(Global<const bf16> P, Global<const bf16> V, Global<bf16> O, i64 P_stride_b,
                i64 P_stride_h, i64 V_stride_b, i64 V_stride_h, i64 O_stride_b, i64 O_stride_h) {
    // Shared memory: 98304 bytes.
    NK_SHARED_MEMORY(memory);
    // P_tile: 64 x 64, 4 stages
    const auto P_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 64>(memory, stage * 8192, "P_tile");
    };
    // V_tile: 64 x 128, 4 stages
    const auto V_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 128>(memory, 32768 + stage * 16384, "V_tile");
    };
    // O_staging: 64 x 128
    const auto O_staging = shared_matrix<bf16, 64, 128>(memory, 0, "O_staging");
    const int group_q = int(blockIdx.x) % 64;
    const int group_2 = int(blockIdx.x) / 64;
    const int group_h = group_2 % 16;
    const int group_3 = group_2 / 16;
    const int b0 = group_3;
    const int h0 = group_h;
    const int q0 = group_q * 64;
    using Rows = Fragment<4, 1>;
    const int warp_q = warp_index() / 4 * 64;  // first row of this warp
    const int warp_d = warp_index() % 4 * 32;  // and its first column

    // O_sum[b, h, q, d] = 0
    Fragment<4, 4> O_sum;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            O_sum(i, j) = 0.0f;
        }
    }

    // chunks of x
    int x_next = 0;
    int x_ahead = 0;  // the next chunk to load
    const auto load_x = [&](int x0, int stage) {
        copy_async<8>(P_tile(stage), P, b0 * P_stride_b + h0 * P_stride_h + q0 * 4096 + x0, 4096,
                      64, 64, threadIdx.x, kThreads);
        copy_async<8>(V_tile(stage), V, b0 * V_stride_b + h0 * V_stride_h + x0 * 128, 128, 64, 128,
                      threadIdx.x, kThreads);
    };
    Operands<bf16, 4, 4> operands;
    const auto fetch_x = [&](int x0, int stage) NK_INLINE {
        fetch_first<Order::AsStored, Order::AsStored, 64>(operands, P_tile(stage), warp_q,
                                                          V_tile(stage), warp_d);
    };
    const auto chunk_x = [&](int x0, int stage, auto more) NK_INLINE {
        // O_sum[b, h, q, d] = O_sum[b, h, q, d] + sum(x) P[b, h, q, x] * V[b, h, x, d]
        multiply_head<Order::AsStored, Order::AsStored, 64>(O_sum, operands, P_tile(stage), warp_q,
                                                            V_tile(stage), warp_d);
        wait_copies<2>();
        block_barrier();
        if (more.value) {
            fetch_x(x_next, (stage + 1) % 4);
        }
        multiply_tail(O_sum, operands);
    };
    for (int stage = 0; stage < 2; ++stage) {
        if (x_ahead < 4096) {
            load_x(x_ahead, stage);
        }
        commit_copies();
        x_ahead += 64;
    }
    if (x_ahead < 4096) {
        load_x(x_ahead, 2);
    }
    commit_copies();
    wait_copies<2>();
    block_barrier();
    if (x_next < 4096) {
        fetch_x(x_next, 0);
    }
    x_next += 64;
    x_ahead += 64;
    int stage = 0;
    int x0 = 0;
    if (x_next < 4096) {
        do {
            if (x_ahead < 4096) {
                load_x(x_ahead, (stage + 3) % 4);
            }
            commit_copies();
            chunk_x(x0, stage, Flag<true>());
            x_next += 64;
            x_ahead += 64;
            stage = (stage + 1) % 4;
            x0 += 64;
        } while (x_next < 4096);
    }
    if (x0 < 4096) {
        commit_copies();
        chunk_x(x0, stage, Flag<false>());
    }

    // O[b, h, q, d] = O_sum[b, h, q, d]
    Fragment<4, 4> O_part;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            O_part(i, j) = O_sum(i, j);
        }
    }

    // save O
    store(O_part, O_staging, warp_q, warp_d);
    block_barrier();
    save_matrix<8>(O_staging, 0, 64, O, b0 * O_stride_b + h0 * O_stride_h + q0 * 128, 128, 64, 128,
                   threadIdx.x, kThreads);
}

}  // namespace nk
