// Diagram prefix_sum, region C.
//   C[n = 1024, t = 4096] : f32
// Derivation:
//   group n by 32
//   stream t by 128
// Target sm_80, for sm_90.
// Schedule:
//   [C]
//   warps = 8
//   warps_down = 8
//   warps_across = 1
// 0 bytes of shared memory
// chunks of 128 of t: 48 clocks each, 1.00 of the bound of issue slots
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    prefix_sum_C(Global<const float> X, Global<float> C) {
    const int n0 = int(blockIdx.x) * 32;
    using Rows = RowFragment<4, 1, 4, 32>;
    const int warp_n = warp_index() * 4;  // first row of this warp

    // C_carry[n] = 0
    float C_carry[Rows::rows];
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        C_carry[i] = 0.0f;
    }

    // chunks of t
    const auto chunk_t = [&](int t_0) NK_INLINE {
        // load X
        RowFragment<4, 1, 4, 32> X_part;  // t of this warp
        load_rows(X_part, X, n0 * 4096 + warp_n * 4096 + t_0, 4096, 32 - warp_n, 128);

        // C[n, t] = C_carry[n] + scan[t] sum X[n, t]
        RowFragment<4, 1, 4, 32> C_part;  // t of this warp
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                C_part(i, j) = X_part(i, j);
            }
            scan_row<PlainSum>(C_part, i, C_carry[i]);
        }

        // C_carry[n] = C_carry[n] + sum(t) X[n, t]
#pragma unroll
        for (int i = 0; i < Rows::rows; ++i) {
            float acc = 0.0f;
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                acc = acc + X_part(i, j);
            }
            acc = row_sum<Rows>(acc);
            C_carry[i] = C_carry[i] + acc;
        }

        // save C
        save_rows(C_part, C, n0 * 4096 + warp_n * 4096 + t_0, 4096, 32 - warp_n, 128);
    };
    for (int t_0 = 0; t_0 < 4096; t_0 += 128) {
        chunk_t(t_0);
    }
}

}  // namespace nk
