// Diagram attention, region O.
//   O[b = 4, h = 16, q = 4096, d = 128] : bf16
// Derivation:
//   fuse S, P, O
//   group q by 128 at l1
//   stream x by 64 at l1
// Target simt, for sm_90.
#include "napkin.cuh"

namespace nk {

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_O(Global<const bf16> Q, Global<const bf16> K, Global<const bf16> V, Global<bf16> O,
                i64 Q_stride_b, i64 Q_stride_h, i64 K_stride_b, i64 K_stride_h, i64 V_stride_b,
                i64 V_stride_h, i64 O_stride_b, i64 O_stride_h) {
    // Shared memory: 166912 bytes.
    NK_SHARED_MEMORY(memory);
    // Q_tile: (b: 1, h: 1, q: 128, d: 128), rows of 130
    const auto Q_tile = shared_tile<bf16>(memory, 66048, 16640, "Q_tile");
    // P_max_tile: (b: 1, h: 1, q: 128)
    const auto P_max_tile = shared_tile<float>(memory, 165888, 128, "P_max_tile");
    // P_sum_tile: (b: 1, h: 1, q: 128)
    const auto P_sum_tile = shared_tile<float>(memory, 166400, 128, "P_sum_tile");
    // O_sum_tile: (b: 1, h: 1, q: 128, d: 128), rows of 129
    const auto O_sum_tile = shared_tile<float>(memory, 0, 16512, "O_sum_tile");
    // K_tile: (b: 1, h: 1, x: 64, d: 128), rows of 130
    const auto K_tile = shared_tile<bf16>(memory, 132608, 8320, "K_tile");
    // V_tile: (b: 1, h: 1, x: 64, d: 128), rows of 130
    const auto V_tile = shared_tile<bf16>(memory, 149248, 8320, "V_tile");
    // S_tile: (b: 1, h: 1, q: 128, x: 64), rows of 65
    const auto S_tile = shared_tile<float>(memory, 99328, 8320, "S_tile");
    // P_max_new_tile: (b: 1, h: 1, q: 128)
    const auto P_max_new_tile = shared_tile<float>(memory, 132608, 128, "P_max_new_tile");
    // P_weight_tile: (b: 1, h: 1, q: 128, x: 64), rows of 65
    const auto P_weight_tile = shared_tile<float>(memory, 99328, 8320, "P_weight_tile");
    // P_repair_tile: (b: 1, h: 1, q: 128)
    const auto P_repair_tile = shared_tile<float>(memory, 133120, 128, "P_repair_tile");
    // O_tile: (b: 1, h: 1, q: 128, d: 128), rows of 130
    const auto O_tile = shared_tile<bf16>(memory, 66048, 16640, "O_tile");
    const int group_q = int(blockIdx.x) % 32;
    const int group_2 = int(blockIdx.x) / 32;
    const int group_h = group_2 % 16;
    const int group_3 = group_2 / 16;
    const int b0 = group_3;
    const int h0 = group_h;
    const int q0 = group_q * 128;

    // load Q
    {
        for (int e = threadIdx.x; e < 2048; e += kThreads) {
            const int iq = e / 16;
            const int id = e % 16 * 8;
            const i64 at = b0 * Q_stride_b + h0 * Q_stride_h + q0 * 128 + iq * 128 + id;
            copy_vector<8>(Q_tile, iq * 130 + id, Q, at);
        }
    }

    // P_max[b, h, q] = -inf
    {
        for (int e = threadIdx.x; e < 128; e += kThreads) {
            const int iq = e;
            P_max_tile[iq] = minus_infinity();
        }
    }

    // P_sum[b, h, q] = 0
    {
        for (int e = threadIdx.x; e < 128; e += kThreads) {
            const int iq = e;
            P_sum_tile[iq] = 0.0f;
        }
    }

    // O_sum[b, h, q, d] = 0
    {
        for (int e = threadIdx.x; e < 16384; e += kThreads) {
            const int iq = e / 128;
            const int id = e % 128;
            O_sum_tile[iq * 129 + id] = 0.0f;
        }
    }
    // chunks of x
    for (int x0 = 0; x0 < 4096; x0 += 64) {
        block_barrier();

        // load K
        {
            for (int e = threadIdx.x; e < 1024; e += kThreads) {
                const int ix = e / 16;
                const int id = e % 16 * 8;
                const i64 at = b0 * K_stride_b + h0 * K_stride_h + x0 * 128 + ix * 128 + id;
                copy_vector<8>(K_tile, ix * 130 + id, K, at);
            }
        }

        // load V
        {
            for (int e = threadIdx.x; e < 1024; e += kThreads) {
                const int ix = e / 16;
                const int id = e % 16 * 8;
                const i64 at = b0 * V_stride_b + h0 * V_stride_h + x0 * 128 + ix * 128 + id;
                copy_vector<8>(V_tile, ix * 130 + id, V, at);
            }
        }
        block_barrier();

        // S[b, h, q, x] = sum(d) Q[b, h, q, d] * K[b, h, x, d] * rsqrt(size(d))
        {
            const int row = threadIdx.x / 16;
            const int column = threadIdx.x % 16;
            float acc[8][4]{};  // 16 x 16 threads
            for (int id = 0; id < 128; ++id) {
                float a[8];
#pragma unroll
                for (int i = 0; i < 8; ++i) {
                    const int iq = row + i * 16;
                    a[i] = to_f32(Q_tile[iq * 130 + id]);
                }
                float b[4];
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    const int ix = column + j * 16;
                    b[j] = to_f32(K_tile[ix * 130 + id]);
                }
                outer_product(acc, a, b);
            }
            replace_nan(acc, [&](int i, int j) {
                const int iq = row + i * 16;
                const int ix = column + j * 16;
                float sum = 0.0f;
                for (int id = 0; id < 128; ++id) {
                    const float left = to_f32(Q_tile[iq * 130 + id]);
                    const float right = to_f32(K_tile[ix * 130 + id]);
                    sum = add(sum, multiply(left, right));
                }
                return sum;
            });
#pragma unroll
            for (int i = 0; i < 8; ++i) {
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    const int iq = row + i * 16;
                    const int ix = column + j * 16;
                    S_tile[iq * 65 + ix] = acc[i][j] * 0.088388346f;
                }
            }
        }
        block_barrier();

        // P_max_new[b, h, q] = max(P_max[b, h, q], max(x) S[b, h, q, x])
        {
            // a warp each
            for (int row = threadIdx.x / 32; row < 128; row += kThreads / 32) {
                const int iq = row;
                float acc = minus_infinity();
                for (int turn = 0; turn < 64; turn += 32) {
                    const int f = turn + threadIdx.x % 32;
                    const int ix = f;
                    const float value = S_tile[iq * 65 + ix];
                    acc = maximum(acc, value);
                }
                // over the lanes of the warp
                for (int lane = 16; lane > 0; lane /= 2) {
                    const float other = shuffle_xor(acc, lane);
                    acc = maximum(acc, other);
                }
                if (threadIdx.x % 32 == 0) {
                    float last = P_max_tile[iq];
                    last = maximum(last, acc);
                    P_max_new_tile[iq] = last;
                }
            }
        }
        block_barrier();

        // P_weight[b, h, q, x] = exp(S[b, h, q, x] - guard(P_max_new[b, h, q]))
        {
            for (int e = threadIdx.x; e < 8192; e += kThreads) {
                const int iq = e / 64;
                const int ix = e % 64;
                const float t0 = guard(P_max_new_tile[iq]);
                P_weight_tile[iq * 65 + ix] = expf(S_tile[iq * 65 + ix] - t0);
            }
        }

        // P_repair[b, h, q] = exp(P_max[b, h, q] - guard(P_max_new[b, h, q]))
        {
            for (int e = threadIdx.x; e < 128; e += kThreads) {
                const int iq = e;
                P_repair_tile[iq] = expf(P_max_tile[iq] - guard(P_max_new_tile[iq]));
            }
        }
        block_barrier();

        // P_sum[b, h, q] = P_sum[b, h, q] * P_repair[b, h, q] + sum(x) P_weight[b, h, q, x]
        {
            // a warp each
            for (int row = threadIdx.x / 32; row < 128; row += kThreads / 32) {
                const int iq = row;
                float acc = 0.0f;
                for (int turn = 0; turn < 64; turn += 32) {
                    const int f = turn + threadIdx.x % 32;
                    const int ix = f;
                    acc = add(acc, P_weight_tile[iq * 65 + ix]);
                }
                // over the lanes of the warp
                for (int lane = 16; lane > 0; lane /= 2) {
                    const float other = shuffle_xor(acc, lane);
                    acc = add(acc, other);
                }
                if (threadIdx.x % 32 == 0) {
                    float last = multiply(P_sum_tile[iq], P_repair_tile[iq]);
                    last = add(last, acc);
                    P_sum_tile[iq] = last;
                }
            }
        }

        // O_sum[b, h, q, d] = O_sum[b, h, q, d] * P_repair[b, h, q] + sum(x) P_weight[b, h, q, x] *
        // V[b, h, x, d]
        {
            const int row = threadIdx.x / 16;
            const int column = threadIdx.x % 16;
            float acc[8][8]{};  // 16 x 16 threads
            for (int ix = 0; ix < 64; ++ix) {
                float a[8];
#pragma unroll
                for (int i = 0; i < 8; ++i) {
                    const int iq = row + i * 16;
                    a[i] = P_weight_tile[iq * 65 + ix];
                }
                float b[8];
#pragma unroll
                for (int j = 0; j < 8; ++j) {
                    const int id = column + j * 16;
                    b[j] = to_f32(V_tile[ix * 130 + id]);
                }
                outer_product(acc, a, b);
            }
            replace_nan(acc, [&](int i, int j) {
                const int iq = row + i * 16;
                const int id = column + j * 16;
                float sum = 0.0f;
                for (int ix = 0; ix < 64; ++ix) {
                    const float left = P_weight_tile[iq * 65 + ix];
                    const float right = to_f32(V_tile[ix * 130 + id]);
                    sum = add(sum, multiply(left, right));
                }
                return sum;
            });
#pragma unroll
            for (int i = 0; i < 8; ++i) {
#pragma unroll
                for (int j = 0; j < 8; ++j) {
                    const int iq = row + i * 16;
                    const int id = column + j * 16;
                    const float result =
                        add(multiply(O_sum_tile[iq * 129 + id], P_repair_tile[iq]), acc[i][j]);
                    O_sum_tile[iq * 129 + id] = result;
                }
            }
        }

        // P_max[b, h, q] = P_max_new[b, h, q]
        {
            for (int e = threadIdx.x; e < 128; e += kThreads) {
                const int iq = e;
                P_max_tile[iq] = P_max_new_tile[iq];
            }
        }
    }
    block_barrier();

    // O[b, h, q, d] = O_sum[b, h, q, d] / P_sum[b, h, q]
    {
        for (int e = threadIdx.x; e < 16384; e += kThreads) {
            const int iq = e / 128;
            const int id = e % 128;
            const float result = divide(O_sum_tile[iq * 129 + id], P_sum_tile[iq]);
            O_tile[iq * 130 + id] = convert<bf16>(result);
        }
    }
    block_barrier();

    // save O
    {
        for (int e = threadIdx.x; e < 16384; e += kThreads) {
            const int iq = e / 128;
            const int id = e % 128;
            const i64 at = b0 * O_stride_b + h0 * O_stride_h + q0 * 128 + iq * 128 + id;
            O[at] = O_tile[iq * 130 + id];
        }
    }
}

}  // namespace nk
