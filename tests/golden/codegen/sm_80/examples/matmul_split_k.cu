// Diagram matmul, region C_sum_part.
//   C_sum_part[b_part = 4, a = 4096, c = 4096] : f32
// Derivation:
//   group a by 64
//   group c by 64
//   stream b by 32
//   split-stream b by 1024
// Target sm_80, for sm_90.
// Schedule:
//   [C_sum_part]
//   warps = 4
//   warps_down = 2
//   warps_across = 2
//   stages = { A = 4, B = 4 }
//   leads = { "fetch the first operands of C_sum_part_sum" = 1 }
//   fetched = { C_sum_part_sum = true }
//   staged = { C_sum_part = true }
// 32768 bytes of shared memory
// chunks of 32 of b_in: 156 clocks each, 1.00 of the bound of a recurrence
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    matmul_C_sum_part(Global<const bf16> A, Global<const bf16> B, Global<float> C_sum_part,
                      i64 C_sum_part_stride_b_part) {
    // Shared memory: 32768 bytes.
    NK_SHARED_MEMORY(memory);
    // A_tile: 64 x 32, 4 stages
    const auto A_tile = [&](int stage) {
        return shared_matrix<bf16, 64, 32>(memory, stage * 4096, "A_tile");
    };
    // B_tile: 32 x 64, 4 stages
    const auto B_tile = [&](int stage) {
        return shared_matrix<bf16, 32, 64>(memory, 16384 + stage * 4096, "B_tile");
    };
    // C_sum_part_staging: 64 x 64
    const auto C_sum_part_staging = shared_matrix<float, 64, 64>(memory, 0, "C_sum_part_staging");
    const int plane = int(blockIdx.x) % 4096;
    const int group_2 = int(blockIdx.x) / 4096;
    const int band = plane / 1024 * 16;
    const int band_height = minimum(16, 64 - band);
    const int group_a = band + plane % 1024 % band_height;
    const int group_c = plane % 1024 / band_height;
    const int b_part0 = group_2;
    const int a0 = group_a * 64;
    const int c0 = group_c * 64;
    using Rows = Fragment<2, 1>;
    const int warp_a = warp_index() / 2 * 32;  // first row of this warp
    const int warp_c = warp_index() % 2 * 32;  // and its first column

    // C_sum_part_sum[b_part, a, c] = 0
    Fragment<2, 4> C_sum_part_sum;  // c of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            C_sum_part_sum(i, j) = 0.0f;
        }
    }

    // chunks of b_in
    int b_in_next = 0;
    int b_in_ahead = 0;  // the next chunk to load
    const auto load_b_in = [&](int b_in0, int stage) {
        copy_async<8>(A_tile(stage), A, a0 * 4096 + b_part0 * 1024 + b_in0, 4096, 64,
                      minimum(32, 4096 - b_part0 * 1024 - b_in0), threadIdx.x, kThreads);
        copy_async<8>(B_tile(stage), B, b_part0 * 4194304 + b_in0 * 4096 + c0, 4096,
                      minimum(32, 4096 - b_part0 * 1024 - b_in0), 64, threadIdx.x, kThreads);
    };
    Operands<bf16, 2, 4> operands;
    const auto fetch_b_in = [&](int b_in0, int stage) NK_INLINE {
        fetch_first<Order::AsStored, Order::AsStored, 32>(operands, A_tile(stage), warp_a,
                                                          B_tile(stage), warp_c);
    };
    const auto chunk_b_in = [&](int b_in0, int stage, auto more) NK_INLINE {
        // C_sum_part_sum[b_part, a, c] = C_sum_part_sum[b_part, a, c] + sum(b_in) A[a, b_in] *
        // B[b_in, c]
        multiply_head<Order::AsStored, Order::AsStored, 32>(C_sum_part_sum, operands, A_tile(stage),
                                                            warp_a, B_tile(stage), warp_c);
        wait_copies<2>();
        block_barrier();
        if (more.value) {
            fetch_b_in(b_in_next, (stage + 1) % 4);
        }
        multiply_tail(C_sum_part_sum, operands);
    };
    for (int stage = 0; stage < 2; ++stage) {
        if (b_in_ahead < 1024) {
            load_b_in(b_in_ahead, stage);
        }
        commit_copies();
        b_in_ahead += 32;
    }
    if (b_in_ahead < 1024) {
        load_b_in(b_in_ahead, 2);
    }
    commit_copies();
    wait_copies<2>();
    block_barrier();
    if (b_in_next < 1024) {
        fetch_b_in(b_in_next, 0);
    }
    b_in_next += 32;
    b_in_ahead += 32;
    int stage = 0;
    int b_in0 = 0;
    if (b_in_next < 1024) {
        do {
            if (b_in_ahead < 1024) {
                load_b_in(b_in_ahead, (stage + 3) % 4);
            }
            commit_copies();
            chunk_b_in(b_in0, stage, Flag<true>());
            b_in_next += 32;
            b_in_ahead += 32;
            stage = (stage + 1) % 4;
            b_in0 += 32;
        } while (b_in_next < 1024);
    }
    if (b_in0 < 1024) {
        commit_copies();
        chunk_b_in(b_in0, stage, Flag<false>());
    }

    // C_sum_part[b_part, a, c] = C_sum_part_sum[b_part, a, c]
    Fragment<2, 4> C_sum_part_part;  // c of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            C_sum_part_part(i, j) = C_sum_part_sum(i, j);
        }
    }

    // save C_sum_part
    store(C_sum_part_part, C_sum_part_staging, warp_a, warp_c);
    block_barrier();
    save_matrix<4>(C_sum_part_staging, 0, 64, C_sum_part,
                   b_part0 * C_sum_part_stride_b_part + a0 * 4096 + c0, 4096, 64, 64, threadIdx.x,
                   kThreads);
}

}  // namespace nk
// Diagram matmul, region C.
//   C[a = 4096, c = 4096] : bf16
// Derivation:
//   group a by 64
//   group c by 64
//   stream b by 32
//   split-stream b by 1024
// Target sm_80, for sm_90.
// Schedule:
//   [C]
//   warps = 8
//   warps_down = 8
//   warps_across = 1
// 0 bytes of shared memory
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads)
    matmul_C(Global<const float> C_sum_part, Global<bf16> C, i64 C_sum_part_stride_b_part) {
    const int group_c = int(blockIdx.x) % 64;
    const int group_2 = int(blockIdx.x) / 64;
    const int a0 = group_2 * 64;
    const int c0 = group_c * 64;
    using Rows = RowFragment<2, 1, 8, 8>;
    const int warp_a = warp_index() * 8;  // first row of this warp

    // C_sum[a, c] = sum(b_part) C_sum_part[b_part, a, c]
    RowFragment<2, 1, 8, 8> C_sum;  // c of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int ia = warp_a + Rows::row(i);
        float acc[8];
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            acc[j] = 0.0f;
        }
#pragma unroll 4
        for (int ib_part = 0; ib_part < 4; ++ib_part) {
#pragma unroll
            for (int vector = 0; vector < 1; ++vector) {
                const int ic_first = RowFragment<2, 1, 8, 8>::column(vector * 8);
                const i64 at_2 =
                    ib_part * C_sum_part_stride_b_part + a0 * 4096 + ia * 4096 + c0 + ic_first;
                const auto v = values_at<8, 4>(C_sum_part, at_2, 8);
#pragma unroll
                for (int element = 0; element < 8; ++element) {
                    const int j = vector * 8 + element;
                    acc[j] = acc[j] + v[element];
                }
            }
        }
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            C_sum(i, j) = acc[j];
        }
    }

    // C[a, c] = C_sum[a, c]
    RowFragment<2, 1, 8, 8> C_part;  // c of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            C_part(i, j) = C_sum(i, j);
        }
    }

    // save C
    save_rows(C_part, C, a0 * 4096 + warp_a * 4096 + c0, 4096, 64 - warp_a, 64);
}

}  // namespace nk
