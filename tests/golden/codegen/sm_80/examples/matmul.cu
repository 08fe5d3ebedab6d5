// Diagram matmul, region C.
//   C[a = 4096, c = 4096] : bf16
// Derivation:
//   group a by 64
//   group c by 64
//   stream b by 32
// Target sm_80, for sm_90.
// Schedule:
//   [C]
//   warps = 4
//   warps_down = 2
//   warps_across = 2
//   stages = { A = 4, B = 4 }
//   leads = { "fetch the first operands of C_sum" = 1 }
//   fetched = { C_sum = true }
//   staged = { C = true }
// 32768 bytes of shared memory
// chunks of 32 of b: 156 clocks each, 1.00 of the bound of a recurrence
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    matmul_C(Global<const bf16> A, Global<const bf16> B, Global<bf16> C) {
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
    // C_staging: 64 x 64
    const auto C_staging = shared_matrix<bf16, 64, 64>(memory, 0, "C_staging");
    const int plane = int(blockIdx.x);
    const int band = plane / 1024 * 16;
    const int band_height = minimum(16, 64 - band);
    const int group_a = band + plane % 1024 % band_height;
    const int group_c = plane % 1024 / band_height;
    const int a0 = group_a * 64;
    const int c0 = group_c * 64;
    using Rows = Fragment<2, 1>;
    const int warp_a = warp_index() / 2 * 32;  // first row of this warp
    const int warp_c = warp_index() % 2 * 32;  // and its first column

    // C_sum[a, c] = 0
    Fragment<2, 4> C_sum;  // c of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            C_sum(i, j) = 0.0f;
        }
    }

    // chunks of b
    int b_next = 0;
    int b_ahead = 0;  // the next chunk to load
    const auto load_b = [&](int b0, int stage) {
        copy_async<8>(A_tile(stage), A, a0 * 4096 + b0, 4096, 64, 32, threadIdx.x, kThreads);
        copy_async<8>(B_tile(stage), B, b0 * 4096 + c0, 4096, 32, 64, threadIdx.x, kThreads);
    };
    Operands<bf16, 2, 4> operands;
    const auto fetch_b = [&](int b0, int stage) NK_INLINE {
        fetch_first<Order::AsStored, Order::AsStored, 32>(operands, A_tile(stage), warp_a,
                                                          B_tile(stage), warp_c);
    };
    const auto chunk_b = [&](int b0, int stage, auto more) NK_INLINE {
        // C_sum[a, c] = C_sum[a, c] + sum(b) A[a, b] * B[b, c]
        multiply_head<Order::AsStored, Order::AsStored, 32>(C_sum, operands, A_tile(stage), warp_a,
                                                            B_tile(stage), warp_c);
        wait_copies<2>();
        block_barrier();
        if (more.value) {
            fetch_b(b_next, (stage + 1) % 4);
        }
        multiply_tail(C_sum, operands);
    };
    for (int stage = 0; stage < 2; ++stage) {
        if (b_ahead < 4096) {
            load_b(b_ahead, stage);
        }
        commit_copies();
        b_ahead += 32;
    }
    if (b_ahead < 4096) {
        load_b(b_ahead, 2);
    }
    commit_copies();
    wait_copies<2>();
    block_barrier();
    if (b_next < 4096) {
        fetch_b(b_next, 0);
    }
    b_next += 32;
    b_ahead += 32;
    int stage = 0;
    int b0 = 0;
    if (b_next < 4096) {
        do {
            if (b_ahead < 4096) {
                load_b(b_ahead, (stage + 3) % 4);
            }
            commit_copies();
            chunk_b(b0, stage, Flag<true>());
            b_next += 32;
            b_ahead += 32;
            stage = (stage + 1) % 4;
            b0 += 32;
        } while (b_next < 4096);
    }
    if (b0 < 4096) {
        commit_copies();
        chunk_b(b0, stage, Flag<false>());
    }

    // C[a, c] = C_sum[a, c]
    Fragment<2, 4> C_part;  // c of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            C_part(i, j) = C_sum(i, j);
        }
    }

    // save C
    store(C_part, C_staging, warp_a, warp_c);
    block_barrier();
    save_matrix<8>(C_staging, 0, 64, C, a0 * 4096 + c0, 4096, 64, 64, threadIdx.x, kThreads);
}

}  // namespace nk
