// Diagram layernorm_linear, region Y.
//   Y[n = 4096, c = 4096] : bf16
// Derivation:
//   fuse all
//   group n by 64
//   group c by 64
//   stream d by 64
// Target sm_80, for sm_90.
// Schedule:
//   [Y]
//   warps = 4
//   warps_down = 2
//   warps_across = 2
//   stages = { W = 2, X = 2 }
//   leads = { "publish Y_factor" = 0, "publish Y_sum2" = 0, "publish Y_sum3" = 0 }
//   staged = { Y = true }
// 41472 bytes of shared memory
// chunks of 64 of d: 703 clocks each, 0.55 of the bound of issue slots
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    layernorm_linear_Y(Global<const bf16> X, Global<const bf16> gain, Global<const bf16> W,
                       Global<const bf16> bias, Global<bf16> Y, float eps) {
    // Shared memory: 41472 bytes.
    NK_SHARED_MEMORY(memory);
    // Y_sum3_tile: 64 of c
    const auto Y_sum3_tile = shared_tile<float>(memory, 0, 64, "Y_sum3_tile");
    // Y_sum2_tile: 64 of c
    const auto Y_sum2_tile = shared_tile<float>(memory, 256, 64, "Y_sum2_tile");
    // X_tile: 64 x 64, 2 stages
    const auto X_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 64>(memory, 512 + stage * 8192, "X_tile");
    };
    // W_tile: 64 x 64, 2 stages
    const auto W_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 64>(memory, 16896 + stage * 8192, "W_tile");
    };
    // Y_factor_tile: 64 x 64
    const auto Y_factor_tile = shared_matrix<bf16, 64, 64>(memory, 33280, "Y_factor_tile");
    // Y_staging: 64 x 64
    const auto Y_staging = shared_matrix<bf16, 64, 64>(memory, 0, "Y_staging");
    const int plane = int(blockIdx.x);
    const int band = plane / 1024 * 16;
    const int band_height = minimum(16, 64 - band);
    const int group_n = band + plane % 1024 % band_height;
    const int group_c = plane % 1024 / band_height;
    const int n0 = group_n * 64;
    const int c0 = group_c * 64;
    using Rows = Fragment<2, 1>;
    const int warp_n = warp_index() / 2 * 32;  // first row of this warp
    const int warp_c = warp_index() % 2 * 32;  // and its first column

    // X_centre[n] = inf
    float X_centre[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        X_centre[i] = infinity();
    }

    // N_sum2[n] = 0
    float N_sum2[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        N_sum2[i] = 0.0f;
    }

    // N_sum[n] = 0
    float N_sum[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        N_sum[i] = 0.0f;
    }

    // Y_sum[n, c] = 0
    Fragment<2, 4> Y_sum;  // c of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            Y_sum(i, j) = 0.0f;
        }
    }

    // Y_sum3[c] = 0
    for (int ic = threadIdx.x; ic < 64; ic += kThreads) {
        Y_sum3_tile[ic] = 0.0f;
    }

    // Y_sum2[c] = 0
    for (int ic = threadIdx.x; ic < 64; ic += kThreads) {
        Y_sum2_tile[ic] = 0.0f;
    }

    // chunks of d
    int d_ahead = 0;  // the next chunk to load
    const auto load_d = [&](int d0, int stage) {
        copy_async<8>(X_tile(stage), X, n0 * 4096 + d0, 4096, 64, 64, threadIdx.x, kThreads);
        copy_async<8>(W_tile(stage), W, c0 * 4096 + d0, 4096, 64, 64, threadIdx.x, kThreads);
    };
    const auto chunk_d = [&](int d0, int stage) NK_INLINE {
        // X_centre_sum[n] = sum(d) X[n, d]
        float X_centre_sum[Rows::rows];
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const int in = warp_n + Rows::row(i);
            float acc = 0.0f;
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                const int id = Fragment<2, 8>::column(j);
                acc = acc + element_of(X_tile(stage), in, id);
            }
            acc = row_sum<Rows>(acc);
            X_centre_sum[i] = acc;
        }

        // X_centre_count = sum(d) 1.0
        float X_centre_count;
        { X_centre_count = 1.0f * float(64); }

        // X_centre[n] = if X_centre[n] < inf then X_centre[n] else guard(X_centre_sum[n] /
        // X_centre_count)
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const bool t0 = X_centre[i] < infinity();
            float t1;
            if (t0) {
                t1 = X_centre[i];
            } else {
                t1 = guard(divide_fast(X_centre_sum[i], X_centre_count));
            }
            X_centre[i] = t1;
        }

        // N_sum2[n] = N_sum2[n] + sum(d) X[n, d] - X_centre[n]
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const int in = warp_n + Rows::row(i);
            float acc = 0.0f;
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                const int id = Fragment<2, 8>::column(j);
                acc = add(acc, element_of(X_tile(stage), in, id) - X_centre[i]);
            }
            N_sum2[i] = add(N_sum2[i], acc);
        }

        // N_sum[n] = N_sum[n] + sum(d) (X[n, d] - X_centre[n]) ^ 2
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const int in = warp_n + Rows::row(i);
            float acc = 0.0f;
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                const int id = Fragment<2, 8>::column(j);
                const float t0 = element_of(X_tile(stage), in, id) - X_centre[i];
                acc = add(acc, integer_power<2>(t0));
            }
            N_sum[i] = add(N_sum[i], acc);
        }

        // Y_factor[c, d] = gain[d] * W[c, d]
        const auto values_at_once = [&](int ic, int id_first, auto& values) {
            const auto v = values_at<8, 8>(gain, d0 + id_first, 8);
            const auto v_2 = values_of<8>(W_tile(stage), ic, id_first);
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                values[j] = v[j] * v_2[j];
            }
        };
        publish(Y_factor_tile, threadIdx.x, kThreads, values_at_once);

        // Y_operand[n, d] = X[n, d] - X_centre[n]
        Fragment<2, 8> Y_operand;  // d of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            const int in = warp_n + Rows::row(i);
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                const int id = Fragment<2, 8>::column(j);
                Y_operand(i, j) = element_of(X_tile(stage), in, id) - X_centre[i];
            }
        }
        block_barrier();

        // Y_sum[n, c] = Y_sum[n, c] + sum(d) Y_factor[c, d] * Y_operand[n, d]
        const auto Y_operand_left = as_left<bf16>(Y_operand);  // rounded to bf16
        multiply<Order::Transposed>(Y_sum, Y_operand_left, Y_factor_tile, 0, warp_c);

        // Y_sum3[c] = Y_sum3[c] + sum(d) gain[d] * W[c, d]
        for (int ic = threadIdx.x / 8; ic < 64; ic += kThreads / 8) {
            float acc = 0.0f;
            for (int id_first_2 = lane_index() % 8 * 8; id_first_2 < 64; id_first_2 += 64) {
                const auto v_3 = values_at<8, 8>(gain, d0 + id_first_2, 8);
                const auto v_4 = values_of<8>(W_tile(stage), ic, id_first_2);
#pragma unroll
                for (int j = 0; j < 8; ++j) {
                    acc = acc + v_3[j] * v_4[j];
                }
            }
            acc = row_sum<Lanes<8>>(acc);
            if (lane_index() % 8 == 0) {
                Y_sum3_tile[ic] = Y_sum3_tile[ic] + acc;
            }
        }

        // Y_sum2[c] = Y_sum2[c] + sum(d) bias[d] * W[c, d]
        for (int ic = threadIdx.x / 8; ic < 64; ic += kThreads / 8) {
            float acc = 0.0f;
            for (int id_first_3 = lane_index() % 8 * 8; id_first_3 < 64; id_first_3 += 64) {
                const auto v_5 = values_at<8, 8>(bias, d0 + id_first_3, 8);
                const auto v_6 = values_of<8>(W_tile(stage), ic, id_first_3);
#pragma unroll
                for (int j = 0; j < 8; ++j) {
                    acc = acc + v_5[j] * v_6[j];
                }
            }
            acc = row_sum<Lanes<8>>(acc);
            if (lane_index() % 8 == 0) {
                Y_sum2_tile[ic] = Y_sum2_tile[ic] + acc;
            }
        }
    };
    for (int stage = 0; stage < 1; ++stage) {
        if (d_ahead < 4096) {
            load_d(d_ahead, stage);
        }
        commit_copies();
        d_ahead += 64;
    }
    int stage = 0;
    for (int d0 = 0; d0 < 4096; d0 += 64) {
        wait_copies<0>();
        block_barrier();
        if (d_ahead < 4096) {
            load_d(d_ahead, (stage + 1) % 2);
        }
        commit_copies();
        chunk_d(d0, stage);
        d_ahead += 64;
        stage = (stage + 1) % 2;
    }

    // N_sum2 of all lanes of a row
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        N_sum2[i] = row_sum<Rows>(N_sum2[i]);
    }

    // N_sum of all lanes of a row
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        N_sum[i] = row_sum<Rows>(N_sum[i]);
    }
    block_barrier();

    // Y[n, c] = Y_sum[n, c] / sqrt(N_sum[n] / size(d) + eps - N_sum2[n] * N_sum2[n] / size(d) ^ 2)
    // + Y_sum2[c] - N_sum2[n] * Y_sum3[c] / (size(d) * sqrt(N_sum[n] / size(d) + eps - N_sum2[n] *
    // N_sum2[n] / size(d) ^ 2))
    Fragment<2, 4> Y_part;  // c of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const float t0 = multiply(N_sum2[i], N_sum2[i]) * 5.9604645e-08f;
        const float t1 = subtract(N_sum[i] * 0.00024414062f + eps, t0);
        const float r0 = divide_fast(1.0f, sqrtf(t1));
        const float t2 = multiply(N_sum2[i], N_sum2[i]) * 5.9604645e-08f;
        const float t3 = subtract(N_sum[i] * 0.00024414062f + eps, t2);
        const float r1 = divide_fast(1.0f, 4096.0f * sqrtf(t3));
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            const int ic = warp_c + Fragment<2, 4>::column(j);
            const float t4 = multiply(multiply(N_sum2[i], Y_sum3_tile[ic]), r1);
            const float t5 = multiply(Y_sum(i, j), r0) + Y_sum2_tile[ic];
            Y_part(i, j) = subtract(t5, t4);
        }
    }
    block_barrier();

    // save Y
    store(Y_part, Y_staging, warp_n, warp_c);
    block_barrier();
    save_matrix<8>(Y_staging, 0, 64, Y, n0 * 4096 + c0, 4096, 64, 64, threadIdx.x, kThreads);
}

}  // namespace nk
