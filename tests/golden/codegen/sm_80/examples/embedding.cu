// Diagram embedding, region Y.
//   Y[n = 8192, d = 1024] : bf16
// Derivation:
//   group n by 64
//   group d by 256
// Target sm_80, for sm_90.
// Schedule:
//   [Y]
//   warps = 8
//   warps_down = 8
//   warps_across = 1
// 0 bytes of shared memory
#include "tensor.cuh"

namespace nk {

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads)
    embedding_Y(Global<const int> token, Global<const bf16> E, Global<const bf16> position,
                Global<bf16> Y) {
    const int group_d = int(blockIdx.x) % 4;
    const int group_2 = int(blockIdx.x) / 4;
    const int n0 = group_2 * 64;
    const int d0 = group_d * 256;
    using Rows = RowFragment<8, 1, 8, 32>;
    const int warp_n = warp_index() * 8;  // first row of this warp

    // load position
    RowFragment<8, 1, 8, 32> position_part;  // d of this warp
    load_rows(position_part, position, n0 * 1024 + warp_n * 1024 + d0, 1024, 64 - warp_n, 256);

    // Y[n, d] = E'1[n, d] + position[n, d]
    RowFragment<8, 1, 8, 32> Y_part;  // d of this warp
#pragma unroll
    for (int i = 0; i < Rows::rows; ++i) {
        const int in = warp_n + Rows::row(i);
#pragma unroll
        for (int vector = 0; vector < 1; ++vector) {
            const int id_first = RowFragment<8, 1, 8, 32>::column(vector * 8);
            const auto v = values_at<8, 8>(E, int(token[n0 + in]) * 1024 + d0 + id_first, 8);
#pragma unroll
            for (int element = 0; element < 8; ++element) {
                const int j = vector * 8 + element;
                Y_part(i, j) = v[element] + position_part(i, j);
            }
        }
    }

    // save Y
    save_rows(Y_part, Y, n0 * 1024 + warp_n * 1024 + d0, 1024, 64 - warp_n, 256);
}

}  // namespace nk
