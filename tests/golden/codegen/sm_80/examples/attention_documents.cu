// Diagram attention_documents, region O.
//   O[b = 4, h = 16, q = 4096, d = 128] : bf16
// Derivation:
//   fuse all
//   group q by 64
//   stream x by 64
// Target sm_80, for sm_90.
// Schedule:
//   [O]
//   warps = 4
//   warps_down = 4
//   warps_across = 1
//   stages = { K = 2, V = 2 }
//   staged = { O = true }
// 82048 bytes of shared memory
// chunks of 64 of x: 1404 clocks each, 0.73 of the bound of the tensor core
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_documents_O(Global<const bf16> Q, Global<const int> length,
                          Global<const int> document, Global<const bf16> K, Global<const bf16> V,
                          Global<bf16> O, i64 Q_stride_b, i64 Q_stride_h, i64 document_stride_b,
                          i64 K_stride_b, i64 K_stride_h, i64 V_stride_b, i64 V_stride_h,
                          i64 O_stride_b, i64 O_stride_h) {
    // Shared memory: 82048 bytes.
    NK_SHARED_MEMORY(memory);
    // Q_tile: 64 x 128
    const auto Q_tile = shared_matrix<bf16, 64, 128>(memory, 0, "Q_tile");
    // K_tile: 64 x 128, 2 stages
    const auto K_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 128>(memory, 16384 + stage * 16384, "K_tile");
    };
    // V_tile: 64 x 128, 2 stages
    const auto V_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 128>(memory, 49152 + stage * 16384, "V_tile");
    };
    // x_marks: a mark of every chunk
    const auto x_marks = shared_tile<i8>(memory, 81920, 128, "x_marks");
    // O_staging: 64 x 128
    const auto O_staging = shared_matrix<bf16, 64, 128>(memory, 0, "O_staging");
    const int group_q = int(blockIdx.x) % 64;
    const int group_2 = int(blockIdx.x) / 64;
    const int group_h = group_2 % 16;
    const int group_3 = group_2 / 16;
    const int b0 = group_3;
    const int h0 = group_h;
    const int q0 = 4032 - group_q * 64;
    using Rows = Fragment<1, 1>;
    const int warp_q = warp_index() * 16;  // first row of this warp

    // load Q
    copy_async<8>(Q_tile, Q, b0 * Q_stride_b + h0 * Q_stride_h + q0 * 128, 128, 64, 128,
                  threadIdx.x, kThreads);
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
    Fragment<1, 16> O_sum;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 32; ++j) {
            O_sum(i, j) = 0.0f;
        }
    }

    // chunks of x
    const int end_x = minimum(4096, q0 + 64);
    const auto length_at = [&](int i_2) { return int(length[b0]); };
    const Ends length_ends = ends_of(1, length_at);
    const auto document_at = [&](int i_3) {
        return int(document[b0 * document_stride_b + q0 + i_3]);
    };
    const Ends document_ends = ends_of(64, document_at);
    mark_chunks<128, 4>(x_marks, 0, end_x, 64, 0, [&](int x0) {
        const auto document_at_2 = [&](int i_4) {
            return int(document[b0 * document_stride_b + x0 + i_4]);
        };
        const Ends document_ends_2 = ends_of(64, document_at_2);
        const bool part = document_ends_2.least <= document_ends.greatest &&
                          document_ends.least <= document_ends_2.greatest;
        const bool part_2 = document_ends.greatest <= document_ends_2.least;
        const bool part_3 = document_ends_2.greatest <= document_ends.least;
        const bool seen = x0 + 1 <= length_ends.greatest && part;
        const bool full = x0 + 64 <= length_ends.least && (part_2 && part_3);
        return seen ? full ? Mark::Full : Mark::Partial : Mark::Empty;
    });
    block_barrier();
    const auto next_x = [&](int x0) { return next_marked<128>(x_marks, 0, end_x, 64, x0 + 64); };
    const int first_x = next_marked<128>(x_marks, 0, end_x, 64, 0);
    int x_ahead = first_x;  // the next chunk to load
    const auto load_x = [&](int x0, int stage) {
        copy_async<8>(K_tile(stage), K, b0 * K_stride_b + h0 * K_stride_h + x0 * 128, 128, 64, 128,
                      threadIdx.x, kThreads);
        copy_async<8>(V_tile(stage), V, b0 * V_stride_b + h0 * V_stride_h + x0 * 128, 128, 64, 128,
                      threadIdx.x, kThreads);
    };
    const auto whole_x = [&](int x0) {
        return is_marked_full<128>(x_marks, 0, 64, x0) && x0 + 63 <= q0;
    };
    const auto chunk_x = [&](int x0, int stage, auto tested) NK_INLINE {
        const bool kTested = tested.value;

        // S[b, h, q, x] = sum(d) Q[b, h, q, d] * K[b, h, x, d] * rsqrt(size(d))
        // kept without its factor 0.0883883
        Fragment<1, 8> S;  // x of this warp
        S.fill(0.0f);
        multiply<Order::AsStored, Order::Transposed, 128>(S, Q_tile, warp_q, K_tile(stage), 0);

        // M[b, h, q, x] = if x <= q and x < length[b] and document[b, q] == document'2[b, x] then
        // S[b, h, q, x] else -inf
        // kept without its factor 0.0883883
        Fragment<1, 8> M;  // x of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const int iq = warp_q + Rows::row(i);
            const int r0 = int(length[b0]);
            const int r1 = int(document[b0 * document_stride_b + q0 + iq]);
            const i64 t0 = minimum(i64(q0 + iq - x0), r0 - i64(x0) - 1);
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                const int ix = Fragment<1, 8>::column(j);
                const bool t1 = ix <= t0 && r1 == int(document[b0 * document_stride_b + x0 + ix]);
                M(i, j) = !kTested || t1 ? S(i, j) : minus_infinity();
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
            P_max_new[i] = maximum(P_max[i], acc * 0.088388346f);
        }

        // P_weight[b, h, q, x] = exp(M[b, h, q, x] - guard(P_max_new[b, h, q]))
        Fragment<1, 8> P_weight;  // x of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const float r0 = guard(P_max_new[i]) * 1.442695f;
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                P_weight(i, j) = exp2_fast(M(i, j) * 0.12751743f - r0);
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
            for (int j = 0; j < 32; ++j) {
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
        x_ahead = next_x(x_ahead);
    }
    int stage = 0;
    for (int x0 = first_x; x0 < end_x; x0 = next_x(x0)) {
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
        x_ahead = next_x(x_ahead);
        stage = (stage + 1) % 2;
    }

    // P_sum of all lanes of a row
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        P_sum[i] = row_sum<Rows>(P_sum[i]);
    }

    // O[b, h, q, d] = O_sum[b, h, q, d] / P_sum[b, h, q]
    Fragment<1, 16> O_part;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const float r0 = divide_fast(1.0f, P_sum[i]);
#pragma unroll
        for (int j = 0; j < 32; ++j) {
            O_part(i, j) = multiply(O_sum(i, j), r0);
        }
    }
    wait_copies<1>();
    block_barrier();

    // save O
    store(O_part, O_staging, warp_q, 0);
    block_barrier();
    save_matrix<8>(O_staging, 0, 64, O, b0 * O_stride_b + h0 * O_stride_h + q0 * 128, 128, 64, 128,
                   threadIdx.x, kThreads);
}

}  // namespace nk
