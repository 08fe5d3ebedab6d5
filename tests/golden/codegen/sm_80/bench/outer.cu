// Diagram outer, region O.
//   O[m = 47104, n = 47104] : bf16
// Derivation:
//   group m by 8 at l1
//   group n by 1024 at l1
// Target sm_80, for sm_90.
// Schedule:
//   [O]
//   warps = 8
//   warps_down = 8
//   warps_across = 1
// 0 bytes of shared memory
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads)
    outer_O(Global<const bf16> X, Global<const bf16> Y, Global<bf16> O) {
    const int group_n = int(blockIdx.x) % 46;
    const int group_2 = int(blockIdx.x) / 46;
    const int m0 = group_2 * 8;
    const int n0 = group_n * 1024;
    using Rows = RowFragment<1, 1, 8, 32>;
    const int warp_m = warp_index();  // first row of this warp

    // load Y
    RowFragment<1, 4, 8, 32> Y_part;  // n of this warp
    load_rows(Y_part, Y, n0, 0, 1, 1024);

    // O[m, n] = X[m] * Y[n]
    RowFragment<1, 4, 8, 32> O_part;  // n of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int im = warp_m + Rows::row(i);
        const float r0 = to_f32(X[m0 + im]);
#pragma unroll
        for (int j = 0; j < 32; ++j) {
            O_part(i, j) = r0 * Y_part(i, j);
        }
    }

    // save O
    save_rows(O_part, O, i64(m0 + warp_m) * 47104 + i64(n0), 47104, 8 - warp_m, 1024);
}

}  // namespace nk
