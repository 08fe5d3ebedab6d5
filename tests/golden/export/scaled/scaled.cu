// scaled: B[m, n] of A and w.
//
// Written by napkin export 0.0.0 from a diagram, target simt.
//
// Contract, which the callers in scaled.c and scaled.py check:
//
//     input   A[m, n] f32: n contiguous
//     input   w[n] f32: n contiguous
//     output  B[m, n] f16: n contiguous
//     number  eps f32, 9.999999747378752e-06 unless given
//     size    m at run time
//     size    n = 8
//     Outputs share no memory with each other or with inputs.
//
// Diagram:
//
//     diagram scaled {
//       axis m = 6 dynamic, n = 8
//       input A[m, n] : f32, w[n] : f32
//       param eps : f32 = 1e-5
//       s[m] = sum(n) A[m, n] * A[m, n]
//       output B[m, n] : f16 = A[m, n] * w[n] * rsqrt(s[m] / size(n) + eps)
//     }
//
// Derivation:
//
//     fuse all
//     group m by 4
//
// Target: simt
// Sizes: m = 6 or others, n = 8
// Certificate: none
//
// nvcc -O3 -std=c++17 -arch=sm_75 -c scaled.cu

// Names of indices that a loop does not need are no mistake.
#pragma nv_diag_suppress 177

namespace scaled_export {

// ---- device primitives ----

(the device primitives)

// ---- kernel scaled_B: region B, blocks of 32 threads, 272 bytes of shared memory ----

namespace nk::scaled_B_kernel {

constexpr int kThreads = 32;

extern "C" __global__ void __launch_bounds__(kThreads)
    scaled_B(Global<const float> A, Global<const float> w, Global<f16> B, i64 A_stride_m, float eps,
             i64 B_stride_m, int size_m) {
    // Shared memory: 272 bytes.
    NK_SHARED_MEMORY(memory);
    // A_tile: (m: 4, n: 8), rows of 9
    const auto A_tile = shared_tile<float>(memory, 0, 36, "A_tile");
    // w_tile: (n: 8)
    const auto w_tile = shared_tile<float>(memory, 224, 8, "w_tile");
    // s_tile: (m: 4)
    const auto s_tile = shared_tile<float>(memory, 256, 4, "s_tile");
    // B_tile: (m: 4, n: 8), rows of 10
    const auto B_tile = shared_tile<f16>(memory, 144, 40, "B_tile");
    const int m0 = int(blockIdx.x) * 4;
    const int nm = minimum(4, size_m - m0);

    // load A
    {
        for (int e = threadIdx.x; e < 8; e += kThreads) {
            const int im = e / 2;
            const int in = e % 2 * 4;
            if (im < nm) {
                const i64 at = (m0 + im) * A_stride_m + i64(in);
                copy_vector<4>(A_tile, im * 9 + in, A, at);
            }
        }
    }

    // load w
    {
        for (int e = threadIdx.x; e < 2; e += kThreads) {
            const int in = e * 4;
            const int at = in;
            copy_vector<4>(w_tile, in, w, at);
        }
    }
    block_barrier();

    // s[m] = sum(n) A[m, n] * A[m, n]
    {
        for (int e = threadIdx.x; e < 4; e += kThreads) {
            const int im = e;
            if (im < nm) {
                float acc = 0.0f;
                for (int in = 0; in < 8; ++in) {
                    acc = add(acc, multiply(A_tile[im * 9 + in], A_tile[im * 9 + in]));
                }
                s_tile[im] = acc;
            }
        }
    }
    block_barrier();

    // B[m, n] = A[m, n] * w[n] * rsqrt(s[m] / size(n) + eps)
    {
        for (int e = threadIdx.x; e < 32; e += kThreads) {
            const int im = e / 8;
            const int in = e % 8;
            if (im < nm) {
                const float t0 = multiply(A_tile[im * 9 + in], w_tile[in]);
                const float result = multiply(t0, rsqrtf(add(s_tile[im] / 8.0f, eps)));
                B_tile[im * 10 + in] = convert<f16>(result);
            }
        }
    }
    block_barrier();

    // save B
    {
        for (int e = threadIdx.x; e < 32; e += kThreads) {
            const int im = e / 8;
            const int in = e % 8;
            if (im < nm) {
                const i64 at = (m0 + im) * B_stride_m + i64(in);
                B[at] = B_tile[im * 10 + in];
            }
        }
    }
}

}  // namespace nk::scaled_B_kernel

}  // namespace scaled_export

#pragma nv_diag_default 177

#ifndef __CUDACC_RTC__
/// For scaled.c: the kernels in the order in which they run.
extern "C" const void* scaled_kernel(int number) {
    using namespace scaled_export;
    if (number == 0) return reinterpret_cast<const void*>(&nk::scaled_B_kernel::scaled_B);
    return nullptr;
}
#endif
