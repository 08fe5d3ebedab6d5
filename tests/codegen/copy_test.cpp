// Copies between device memory and tiles for the tensor core: every vector, number of threads and
// limit, against what the two functions say of elements.
#include <tensor.cuh>

#include <algorithm>

#include "tests/codegen/kernel_runner.h"

namespace napkin {
namespace {

struct Case {
    int rows;
    int columns;
    int vector;
    int threads;
    int first;  ///< of the rows that are saved
    int count;
};
const std::vector<Case> kCases = {
    {32, 64, 8, 64, 0, 32},  // a power of two of rows at once
    {32, 48, 8, 64, 8, 16},  // 10 rows at once, four threads idle
    {16, 40, 4, 32, 3, 9},   // first row off the swizzle's period
    {8, 256, 8, 32, 0, 8},   // a row at once
    {8, 264, 8, 32, 1, 6},   // rows longer than all threads
    {24, 24, 1, 96, 0, 24},  // elements
    {24, 16, 2, 64, 16, 8},
};

/// Copies the first rows and columns of an array, stride 272, into a tile and a part of it out.
std::string copy_source(const std::string& type) {
    std::string text = "using T = " + type + R"(;
template <int kRows, int kColumns, int kVector>
NK_DEVICE void copy(Global<const T> in, Global<T> out, Global<T> saved, int threads, int first,
                    int count, int rows, int columns) {
    NK_SHARED_MEMORY(memory);
    const auto tile = shared_matrix<T, kRows, kColumns>(memory, 0, "tile");
    const int thread = threadIdx.x;
    if (thread < threads)
        copy_async<kVector>(tile, in, 0, 272, rows, columns, thread, threads);
    commit_copies();
    wait_copies<0>();
    block_barrier();
    for (int e = thread; e < kRows * kColumns; e += 96)
        out[e] = tile(e / kColumns, e % kColumns);
    if (thread < threads)
        save_matrix<kVector>(tile, first, count, saved, 0, 272, rows, columns, thread, threads);
}
extern "C" __global__ void copies(Global<const T> in, Global<T> out, Global<T> saved, int which,
                                  int threads, int first, int count, int rows, int columns) {
)";
    for (std::size_t i = 0; i < kCases.size(); ++i)
        if (type == "bf16" || kCases[i].columns % 16 == 0)
            text += "    if (which == " + std::to_string(i) + ") copy<" +
                    std::to_string(kCases[i].rows) + ", " + std::to_string(kCases[i].columns) +
                    ", " + std::to_string(kCases[i].vector) +
                    ">(in, out, saved, threads, first, count, rows, columns);\n";
    return text + "}\n";
}

template <class T>
void check_copy(const std::string& type, std::size_t which, int rows, int columns) {
    const Case& test = kCases[which];
    INFO(type, ", case ", which, ", ", rows, " rows and ", columns, " columns");
    std::vector<T> in(24 * 272 + 32);
    for (std::size_t i = 0; i < in.size(); ++i)
        in[i].bits = static_cast<decltype(T{}.bits)>(1 + i % 250);
    const T untouched{static_cast<decltype(T{}.bits)>(255)};
    std::vector<T> out(static_cast<std::size_t>(test.rows * test.columns));
    std::vector<T> saved(32 * 272, untouched);
    test::KernelRunner runner("copies", copy_source(type), 96, 16384);
    runner.buffer("in", in).buffer("out", out).buffer("saved", saved);
    for (const int value :
         {static_cast<int>(which), test.threads, test.first, test.count, rows, columns})
        runner.number(value);
    const EmulatedRun run = runner.run();
    REQUIRE_MESSAGE(!run.fault.has_value(), (run.fault ? run.fault->message : ""));
    CHECK_EQ(run.of(nk::emulator::AccessKind::Copies).conflicts, 0);
    CHECK_EQ(run.of(nk::emulator::AccessKind::Vectors).conflicts, 0);
    int wrong = 0;
    for (int row = 0; row < 32; ++row)
        for (int column = 0; column < 272; ++column) {
            const std::size_t at = static_cast<std::size_t>(row * 272 + column);
            const bool there = row < rows && column < columns;
            if (row < test.rows && column < test.columns)
                wrong += out[static_cast<std::size_t>(row * test.columns + column)].bits !=
                         (there ? in[at].bits : 0);
            const bool chosen = there && row >= test.first && row < test.first + test.count &&
                                column < test.columns;
            wrong += saved[at].bits != (chosen ? in[at].bits : untouched.bits);
        }
    CHECK_EQ(wrong, 0);
}

}  // namespace

namespace {

/// Copies rows that begin anywhere into a tile of 24 x 32, and that out.
template <class T>
void check_shifted(const std::string& type, int threads, int from, int stride, int rows,
                   int columns) {
    INFO(type, ", ", threads, " threads, from ", from, " on, stride ", stride, ", ", rows,
         " rows and ", columns, " columns");
    const std::string source = "using T = " + type + R"(;
extern "C" __global__ void shifted(Global<const T> in, Global<T> out, int size, int from,
                                   int stride, int threads, int rows, int columns) {
    NK_SHARED_MEMORY(memory);
    const auto tile = shared_matrix<T, 24, 32>(memory, 0, "tile");
    if (int(threadIdx.x) < threads)
        copy_shifted(tile, in, size, from, stride, rows, columns, threadIdx.x, threads);
    block_barrier();
    for (int e = threadIdx.x; e < 24 * 32; e += 96) out[e] = tile(e / 32, e % 32);
}
)";
    // The part's last element is the array's.
    const int size = from + (rows > 0 ? (rows - 1) * stride + std::max(columns, 0) : 0);
    std::vector<T> in(static_cast<std::size_t>(std::max(size, 1)));
    for (std::size_t i = 0; i < in.size(); ++i)
        in[i].bits = static_cast<decltype(T{}.bits)>(1 + i % 250);
    std::vector<T> out(24 * 32);
    test::KernelRunner runner("shifted", source, 96, 16384);
    runner.buffer("in", in).buffer("out", out);
    for (const int value : {std::max(size, 1), from, stride, threads, rows, columns})
        runner.number(value);
    const EmulatedRun run = runner.run();
    REQUIRE_MESSAGE(!run.fault.has_value(), (run.fault ? run.fault->message : ""));
    int wrong = 0;
    for (int row = 0; row < 24; ++row)
        for (int column = 0; column < 32; ++column) {
            const bool there = row < rows && column < columns;
            const auto at = static_cast<std::size_t>(from + row * stride + column);
            wrong +=
                out[static_cast<std::size_t>(row * 32 + column)].bits != (there ? in[at].bits : 0);
        }
    CHECK_EQ(wrong, 0);
}

}  // namespace

TEST_CASE("copies: rows that begin anywhere, up to the array's first and last element") {
    for (const int threads : {96, 32})
        for (const auto& [from, stride] :
             {std::pair(0, 33), std::pair(1, 35), std::pair(7, 77), std::pair(40, 41)})
            for (const auto& [rows, columns] :
                 {std::pair(24, 32), std::pair(24, 19), std::pair(5, 32), std::pair(1, 1),
                  std::pair(0, 8), std::pair(3, -8)}) {
                check_shifted<nk::bf16>("bf16", threads, from, stride, rows, columns);
                check_shifted<nk::e4m3>("e4m3", threads, from, stride, rows, columns);
            }
}

TEST_CASE("copies: every vector, number of threads and limit") {
    for (std::size_t which = 0; which < kCases.size(); ++which)
        for (const auto& [rows, columns] : {std::pair(24, 272), std::pair(5, 40), std::pair(24, 19),
                                            std::pair(0, 8), std::pair(3, -8)}) {
            check_copy<nk::bf16>("bf16", which, rows, columns);
            if (kCases[which].columns % 16 == 0) check_copy<nk::e4m3>("e4m3", which, rows, columns);
        }
}

}  // namespace napkin
