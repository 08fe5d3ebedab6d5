// The tensor core's primitives compile with NVRTC for every machine of target sm_80.
#include <doctest/doctest.h>

#include <filesystem>

#include "codegen/run/compile.h"
#include "tests/support/provided.h"

namespace napkin {
namespace {

/// C = op(A) op(B) by blocks of 64 x 64 with three stages, and what attention needs besides.
EmittedKernel product_kernel(const std::string& type, const std::string& left,
                             const std::string& right) {
    EmittedKernel kernel;
    kernel.name = "product";
    kernel.threads = 128;
    kernel.source = "#include \"tensor.cuh\"\nnamespace nk {\nusing T = " + type +
                    ";\nconstexpr Order kLeft = Order::" + left +
                    ";\nconstexpr Order kRight = Order::" + right + R"(;
constexpr int kStages = 3;
constexpr int kVector = 16 / sizeof(T);
constexpr int kDepth = 64 / sizeof(T);
template <Order kOrder, int kOuter, int kInner>
using Tile = Matrix<T, kOrder == Order::AsStored ? kOuter : kInner,
                    kOrder == Order::AsStored ? kInner : kOuter>;
using A_tile = Tile<kLeft, 64, kDepth>;
using B_tile = Tile<kRight, kDepth, 64>;

template <class Tile>
NK_DEVICE Tile stage(unsigned char* memory, int from, int number) {
    return shared_matrix<T, Tile::rows, Tile::columns>(memory, from + number * Tile::bytes, "tile");
}
template <class Tile>
NK_DEVICE void load(Tile tile, Global<const T> array, int rows, int columns, int row, int column) {
    copy_async<kVector>(tile, array, i64(row) * columns + column, columns, rows - row,
                        columns - column, threadIdx.x, 128);
}

extern "C" __global__ void __launch_bounds__(128)
    product(Global<const T> A, Global<const T> B, Global<T> C, int m, int n, int k) {
    NK_SHARED_MEMORY(memory);
    const int m0 = blockIdx.x * 64;
    const int n0 = blockIdx.y * 64;
    const int row = warp_index() / 2 * 32;
    const int column = warp_index() % 2 * 32;
    constexpr int kB = kStages * A_tile::bytes;
    const auto load_chunk = [&](int k0, int to) {
        if (k0 < k && kLeft == Order::AsStored)
            load(stage<A_tile>(memory, 0, to), A, m, k, m0, k0);
        if (k0 < k && kLeft == Order::Transposed)
            load(stage<A_tile>(memory, 0, to), A, k, m, k0, m0);
        if (k0 < k && kRight == Order::AsStored)
            load(stage<B_tile>(memory, kB, to), B, k, n, k0, n0);
        if (k0 < k && kRight == Order::Transposed)
            load(stage<B_tile>(memory, kB, to), B, n, k, n0, k0);
        commit_copies();
    };
    Fragment<2, 4> acc;
    acc.fill(0.0f);
    for (int ahead = 0; ahead < kStages - 1; ++ahead) load_chunk(ahead * kDepth, ahead);
    int now = 0;
    for (int k0 = 0; k0 < k; k0 += kDepth) {
        wait_copies<kStages - 2>();
        block_barrier();
        load_chunk(k0 + (kStages - 1) * kDepth, (now + kStages - 1) % kStages);
        multiply<kLeft, kRight, kDepth>(acc, stage<A_tile>(memory, 0, now), row,
                                        stage<B_tile>(memory, kB, now), column);
        now = (now + 1) % kStages;
    }
    float total = 0.0f;
    for (int i = 0; i < acc.rows; ++i)
        for (int j = 0; j < acc.columns; ++j) {
            acc(i, j) = exp2_gradual(acc(i, j)) + exp2_fast(log2_fast(tanh_fast(acc(i, j))));
            total = add(total, acc(i, j));
        }
    acc(0, 0) = row_sum<Fragment<2, 4>>(total) + row_maximum<Fragment<2, 4>>(total) +
                row_minimum<Fragment<2, 4>>(total) * reciprocal_fast(total);
    wait_copies<0>();
    block_barrier();
    const auto C_tile = shared_matrix<T, 64, 64>(memory, 0, "C_tile");
    store(acc, C_tile, row, column);
    block_barrier();
    Fragment<2, 4> again;
    again.fill(0.0f);
    multiply<Order::Transposed>(again, as_left<T>(acc), C_tile, 0, column);
    C_tile(row + acc.row(0), column + acc.column(0)) = convert<T>(again(0, 0));
    block_barrier();
    save_matrix<kVector>(C_tile, 0, 64, C, i64(m0) * n + n0, n, m - m0, n - n0, threadIdx.x, 128);
    RowFragment<2, 2, 8, 8> rows;
    load_rows(rows, A, 0, k, m, k);
    save_rows(rows, C, 0, n, m, n);
}
}
)";
    return kernel;
}

}  // namespace

TEST_CASE("nvrtc: the tensor core's primitives compile for every machine of the target") {
    if (!test::provided("nvrtc", nvrtc_status().missing)) return;
    CompileOptions options;
    options.cache = test::kept_folder("kernels");
    const auto check = [&](const EmittedKernel& kernel, const char* architecture) {
        INFO(architecture);
        options.architecture = architecture;
        const Result<CompiledKernel> compiled = compile(kernel, options);
        REQUIRE(compiled.has_value());
        CHECK_EQ(compiled->spill_stores.value_or(-1), 0);
        CHECK_EQ(compiled->stack.value_or(-1), 0);
    };
    for (const char* type : {"bf16", "f16", "float"})
        for (const char* left : {"AsStored", "Transposed"})
            for (const char* right : {"AsStored", "Transposed"})
                check(product_kernel(type, left, right), "sm_80");
    for (const char* architecture : {"sm_86", "sm_89", "sm_90", "sm_100", "sm_120"})
        check(product_kernel("bf16", "AsStored", "Transposed"), architecture);
}

TEST_CASE("nvrtc: operands are read four matrices at a time, and nothing is kept in memory") {
    if (!test::provided("nvrtc", nvrtc_status().missing)) return;
    CompileOptions options;
    options.cache = test::kept_folder("kernels");
    options.architecture = "sm_80";
    options.image = KernelImage::Ptx;
    const auto count = [](const std::string& text, const std::string& word) {
        int found = 0;
        for (std::size_t at = text.find(word); at != std::string::npos;
             at = text.find(word, at + 1))
            ++found;
        return found;
    };
    const Result<CompiledKernel> compiled =
        compile(product_kernel("bf16", "AsStored", "AsStored"), options);
    REQUIRE(compiled.has_value());
    // Two steps of two reads each, left and, transposed, right; then right ones for results.
    CHECK_EQ(count(compiled->bytes, "ldmatrix.sync.aligned.m8n8.x4.shared"), 4 + 4);
    CHECK_EQ(count(compiled->bytes, "ldmatrix.sync.aligned.m8n8.x4.trans"), 4);
    CHECK_EQ(count(compiled->bytes, "ldmatrix.sync.aligned.m8n8.x2"), 0);
    CHECK_EQ(count(compiled->bytes, "mma.sync.aligned.m16n8k16"), 2 * 2 * 4 + 2 * 2 * 4);
    CHECK_EQ(count(compiled->bytes, ".local"), 0);
}

}  // namespace napkin
