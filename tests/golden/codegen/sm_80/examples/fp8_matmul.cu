// Diagram fp8_matmul, region s.
//   s[m = 4096] : f32
// Derivation:
//   group m by 64 in s
//   stream k by 128 in s
//   group m by 64 in A
//   group k by 128 in A
//   group m by 64 in Y
//   group n by 64 in Y
//   stream k by 64 in Y
// Target sm_80, for sm_90.
// Schedule:
//   [s]
//   warps = 8
//   warps_down = 8
//   warps_across = 1
// 0 bytes of shared memory
// chunks of 128 of k: 64 clocks each, 1.00 of the bound of issue slots
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads)
    fp8_matmul_s(Global<const bf16> X, Global<float> s) {
    const int m0 = int(blockIdx.x) * 64;
    using Rows = RowFragment<4, 1, 8, 16>;
    const int warp_m = warp_index() * 8;  // first row of this warp

    // s_max[m] = -inf
    float s_max[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        s_max[i] = minus_infinity();
    }

    // chunks of k
    const auto chunk_k = [&](int k_0) NK_INLINE {
        // load X
        RowFragment<4, 1, 8, 16> X_part;  // k of this warp
        load_rows(X_part, X, m0 * 4096 + warp_m * 4096 + k_0, 4096, 64 - warp_m, 128);

        // s_max[m] = max(s_max[m], max(k) abs(X[m, k]) / 448)
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            float acc = minus_infinity();
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                acc = maximum(acc, absolute(X_part(i, j)));
            }
            s_max[i] = maximum(s_max[i], acc * 0.002232143f);
        }
    };
    for (int k_0 = 0; k_0 < 4096; k_0 += 128) {
        chunk_k(k_0);
    }

    // s_max of all lanes of a row
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        s_max[i] = row_maximum<Rows>(s_max[i]);
    }

    // s[m] = s_max[m]
    float s_part[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        s_part[i] = s_max[i];
    }

    // save s
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int im = warp_m + Rows::row(i);
        if (threadIdx.x % 16 == 0) {
            const int at = m0 + im;
            s[at] = s_part[i];
        }
    }
}

}  // namespace nk
// Diagram fp8_matmul, region A.
//   A[m = 4096, k = 4096] : e4m3
// Derivation:
//   group m by 64 in s
//   stream k by 128 in s
//   group m by 64 in A
//   group k by 128 in A
//   group m by 64 in Y
//   group n by 64 in Y
//   stream k by 64 in Y
// Target sm_80, for sm_90.
// Schedule:
//   [A]
//   warps = 8
//   warps_down = 8
//   warps_across = 1
// 0 bytes of shared memory
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads)
    fp8_matmul_A(Global<const bf16> X, Global<const float> s, Global<e4m3> A) {
    const int group_k = int(blockIdx.x) % 32;
    const int group_2 = int(blockIdx.x) / 32;
    const int m0 = group_2 * 64;
    const int k_0 = group_k * 128;
    using Rows = RowFragment<4, 1, 8, 16>;
    const int warp_m = warp_index() * 8;  // first row of this warp

    // load X
    RowFragment<4, 1, 8, 16> X_part;  // k of this warp
    load_rows(X_part, X, m0 * 4096 + warp_m * 4096 + k_0, 4096, 64 - warp_m, 128);

    // A[m, k] = X[m, k] / s[m]
    RowFragment<4, 1, 8, 16> A_part;  // k of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int im = warp_m + Rows::row(i);
        const float r0 = divide_fast(1.0f, s[m0 + im]);
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            A_part(i, j) = multiply(X_part(i, j), r0);
        }
    }

    // save A
    save_rows(A_part, A, m0 * 4096 + warp_m * 4096 + k_0, 4096, 64 - warp_m, 128);
}

}  // namespace nk
// Diagram fp8_matmul, region Y.
//   Y[m = 4096, n = 4096] : bf16
// Derivation:
//   group m by 64 in s
//   stream k by 128 in s
//   group m by 64 in A
//   group k by 128 in A
//   group m by 64 in Y
//   group n by 64 in Y
//   stream k by 64 in Y
// Target sm_80, for sm_90.
// Schedule:
//   [Y]
//   warps = 4
//   warps_down = 2
//   warps_across = 2
//   stages = { A = 4, B = 4 }
//   leads."fetch the first operands of Y_sum" = 0
//   leads."publish Y_sum_left" = 1
//   leads."publish Y_sum_right" = 1
//   fetched = { Y_sum = true }
//   staged = { Y = true }
// 65536 bytes of shared memory
// chunks of 64 of k: 512 clocks each, 0.50 of the bound of the tensor core
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    fp8_matmul_Y(Global<const e4m3> A, Global<const e4m3> B, Global<const float> s,
                 Global<const float> scale, Global<bf16> Y) {
    // Shared memory: 65536 bytes.
    NK_SHARED_MEMORY(memory);
    // A_tile: 64 x 64, 4 stages
    const auto A_tile = [&](int stage) {
        return shared_matrix<e4m3, 64, 64>(memory, stage * 4096, "A_tile");
    };
    // B_tile: 64 x 64, 4 stages
    const auto B_tile = [&](int stage) {
        return shared_matrix<e4m3, 64, 64>(memory, 16384 + stage * 4096, "B_tile");
    };
    // Y_sum_left_tile: 64 x 64, 2 stages
    const auto Y_sum_left_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 64>(memory, 32768 + stage * 8192, "Y_sum_left_tile");
    };
    // Y_sum_right_tile: 64 x 64, 2 stages
    const auto Y_sum_right_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 64>(memory, 49152 + stage * 8192, "Y_sum_right_tile");
    };
    // Y_staging: 64 x 64
    const auto Y_staging = shared_matrix<bf16, 64, 64>(memory, 0, "Y_staging");
    const int plane = int(blockIdx.x);
    const int band = plane / 1024 * 16;
    const int band_height = minimum(16, 64 - band);
    const int group_m = band + plane % 1024 % band_height;
    const int group_n = plane % 1024 / band_height;
    const int m0 = group_m * 64;
    const int n0 = group_n * 64;
    using Rows = Fragment<2, 1>;
    const int warp_m = warp_index() / 2 * 32;  // first row of this warp
    const int warp_n = warp_index() % 2 * 32;  // and its first column

    // Y_sum[m, n] = 0
    Fragment<2, 4> Y_sum;  // n of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            Y_sum(i, j) = 0.0f;
        }
    }

    // chunks of k
    int k_next = 0;
    int k_ahead = 0;  // the next chunk to load
    const auto load_k = [&](int k_0, int slot, int stage) {
        copy_async<16>(A_tile(stage), A, m0 * 4096 + k_0, 4096, 64, 64, threadIdx.x, kThreads);
        copy_async<16>(B_tile(stage), B, n0 * 4096 + k_0, 4096, 64, 64, threadIdx.x, kThreads);
    };
    const auto publish_k = [&](int k_0, int slot, int stage) NK_INLINE {
        // left operand of Y_sum: A[m, k]
        const auto values_at_once = [&](int im, int ik_first, auto& values) {
            const auto v = values_of<8>(A_tile(stage), im, ik_first);
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                values[j] = v[j];
            }
        };
        publish(Y_sum_left_tile(slot), threadIdx.x, kThreads, values_at_once);
    };
    const auto publish_k_2 = [&](int k_0, int slot, int stage) NK_INLINE {
        // right operand of Y_sum: B[n, k]
        const auto values_at_once_2 = [&](int in, int ik_first_2, auto& values_2) {
            const auto v_2 = values_of<8>(B_tile(stage), in, ik_first_2);
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                values_2[j] = v_2[j];
            }
        };
        publish(Y_sum_right_tile(slot), threadIdx.x, kThreads, values_at_once_2);
    };
    const auto chunk_k = [&](int k_0, int slot, int stage, auto more) NK_INLINE {
        Operands<bf16, 2, 4> operands;
        fetch_first<Order::AsStored, Order::Transposed, 64>(operands, Y_sum_left_tile(slot), warp_m,
                                                            Y_sum_right_tile(slot), warp_n);
        if (more.value) {
            publish_k_2(k_next, (slot + 1) % 2, (stage + 1) % 4);
        }

        // Y_sum[m, n] = Y_sum[m, n] + sum(k) A[m, k] * B[n, k]
        multiply_head<Order::AsStored, Order::Transposed, 64>(
            Y_sum, operands, Y_sum_left_tile(slot), warp_m, Y_sum_right_tile(slot), warp_n);
        multiply_tail(Y_sum, operands);
    };
    for (int stage = 0; stage < 3; ++stage) {
        if (k_ahead < 4096) {
            load_k(k_ahead, stage % 2, stage);
        }
        commit_copies();
        k_ahead += 64;
    }
    wait_copies<2>();
    block_barrier();
    if (k_ahead < 4096) {
        load_k(k_ahead, 1, 3);
    }
    commit_copies();
    if (k_next < 4096) {
        publish_k(k_next, 0, 0);
    }
    if (k_next < 4096) {
        publish_k_2(k_next, 0, 0);
    }
    k_next += 64;
    k_ahead += 64;
    int slot = 0;
    int stage = 0;
    int k_0 = 0;
    if (k_next < 4096) {
        do {
            wait_copies<2>();
            block_barrier();
            if (k_ahead < 4096) {
                load_k(k_ahead, slot, stage);
            }
            commit_copies();
            publish_k(k_next, (slot + 1) % 2, (stage + 1) % 4);
            chunk_k(k_0, slot, stage, Flag<true>());
            k_next += 64;
            k_ahead += 64;
            slot = (slot + 1) % 2;
            stage = (stage + 1) % 4;
            k_0 += 64;
        } while (k_next < 4096);
    }
    if (k_0 < 4096) {
        wait_copies<2>();
        block_barrier();
        commit_copies();
        chunk_k(k_0, slot, stage, Flag<false>());
    }

    // Y[m, n] = Y_sum[m, n] * s[m] * scale[n]
    Fragment<2, 4> Y_part;  // n of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int im = warp_m + Rows::row(i);
        const float r0 = s[m0 + im];
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            const int in = warp_n + Fragment<2, 4>::column(j);
            Y_part(i, j) = Y_sum(i, j) * r0 * scale[n0 + in];
        }
    }

    // save Y
    store(Y_part, Y_staging, warp_m, warp_n);
    block_barrier();
    save_matrix<8>(Y_staging, 0, 64, Y, m0 * 4096 + n0, 4096, 64, 64, threadIdx.x, kThreads);
}

}  // namespace nk
