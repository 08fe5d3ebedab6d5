// What the emulator finds wrong with kernels of warp groups: a right kernel, and one for every
// fault planted in it.
#include <fmt/format.h>

#include <panels.cuh>
#include <random>
#include <tensor.cuh>

#include "tests/codegen/kernel_runner.h"

namespace napkin {
namespace {

/// C = round(2 A B) W by tiles of 128 rows, two consumers of 64 and a group that loads: A and B
/// by bulk copies through a ring, W by its threads' copies on a barrier of its own. The second
/// product's left operand is in registers; results leave by bulk stores.
const std::string kRightKernel = R"(
constexpr int kStages = 2;
/// Bulk copies of a tile, a panel each.
template <int kRank, class Tile>
NK_DEVICE void load(Tile tile, const TensorMap& map, const int (&at)[kRank], Shared<u64> barriers,
                    int slot) {
    for (int panel = 0; panel < Tile::columns / Tile::width; ++panel) {
        int from[kRank];
        for (int d = 0; d < kRank; ++d) from[d] = at[d];
        from[0] += panel * Tile::width;
        start_bulk_load(tile.data, panel * Tile::panel_bytes, map, from, barriers, slot);
    }
}
extern "C" __global__ void __launch_bounds__(384, 1)
    chain(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
          Global<const bf16> W, const __grid_constant__ TensorMap C, int tiles, int chunks) {
    NK_SHARED_MEMORY(memory);
    const auto ring = shared_ring<kStages>(memory, 98304, "ring");
    const auto w_ready = shared_tile<u64>(memory, 98368, 1, "w_ready");
    const auto w = shared_panels<bf16, 128, 64>(memory, 65536, "W_tile");
    const auto staging = shared_panels<bf16, 128, 64>(memory, 81920, "C_staging");
    const auto a = [&](int n) {
        return shared_panels<bf16, 128, 64>(memory, ring.slot(n) * 16384, "A_tile");
    };
    const auto b = [&](int n) {
        return shared_panels<bf16, 64, 128>(memory, 32768 + ring.slot(n) * 16384, "B_tile");
    };
    const int thread = threadIdx.x;
    if (thread == 0) {
        ring.start(1, 8);
        start_barrier(w_ready, 0, 128);
        fence_barriers();
    }
    block_barrier();
    if (thread >= 256) {
        give_up_registers<40>();
        copy_async<8>(Matrix<bf16, 128, 64>{w.data}, W, 0, 64, 128, 64, thread - 256, 128);
        arrive_after_copies(w_ready, 0);
        if (thread == 256) {
            int n = 0;
            for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x)
                for (int chunk = 0; chunk < chunks; ++chunk, ++n) {
                    const int slot = ring.slot(n);
                    ring.wait_free(n);
                    arrive_expecting(ring.barriers, slot, 32768);
                    load(a(n), A, {chunk * 64, tile * 128}, ring.barriers, slot);
                    load(b(n), B, {0, chunk * 64}, ring.barriers, slot);
                }
        }
        return;
    }
    take_registers<232>();
    const int row = thread / 128 * 64;
    Fragment<1, 16> acc;
    Fragment<1, 8> out;
    LeftOperand<bf16, 1, 8> held;
    int n = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        for (int chunk = 0; chunk < chunks; ++chunk, ++n) {
            ring.wait_filled(n);
            const u64 left = operand_at<128>(a(n).data, row * 128, 16, 1024);
            const u64 right = operand_at<128>(b(n).data, 0, 8192, 1024);
            fence_products();
            for (int step = 0; step < 4; ++step)
                start_product<bf16, false, true>(acc.at[0], further(left, step * 32),
                                                 further(right, step * 2048),
                                                 chunk > 0 || step > 0);
            commit_products();
            wait_products<1>();
            if (chunk > 0) ring.release(n - 1);
        }
        finish_multiply<0>(acc);
        ring.release(n - 1);
        for (int i = 0; i < acc.rows; ++i)
            for (int j = 0; j < acc.columns; ++j) acc(i, j) *= 2.0f;
        if (tile == blockIdx.x) {
            wait_barrier(w_ready, 0, 0);
            fence_async();  // W
        }
        const u64 values = operand_at<128>(w.data, 0, 16384, 1024);
        held = as_left<bf16>(acc);
        fence_products();  // held
        for (int step = 0; step < 8; ++step)
            start_product<bf16, true>(out.at[0], held.at[0][step], further(values, step * 2048),
                                      step > 0);
        commit_products();
        finish_multiply<0>(out);
        if (thread == 0) wait_stores_read<0>();  // before C
        named_barrier(1, 256);
        store(out, Matrix<bf16, 128, 64>{staging.data}, warp_index() * 16, 0);
        fence_async();  // C
        named_barrier(2, 256);
        if (thread == 0) {
            start_bulk_store(C, {0, tile * 128}, staging.data, 0);
            commit_stores();
        }
    }
    if (thread == 0) wait_stores_read<0>();  // at the end
}
)";

constexpr int kTiles = 5;
constexpr int kChunks = 3;
constexpr int kRows = kTiles * 128 - 24;
constexpr int kDepth = kChunks * 64 - 8;
constexpr std::int64_t kSharedBytes = 98368 + 8;

std::vector<nk::bf16> signs(int size, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<nk::bf16> values(static_cast<std::size_t>(size));
    for (nk::bf16& value : values)
        value = nk::convert<nk::bf16>(static_cast<float>(static_cast<int>(random() % 3) - 1));
    return values;
}

struct Arrays {
    std::vector<nk::bf16> a = signs(kRows * kDepth, 1);
    std::vector<nk::bf16> b = signs(kDepth * 128, 2);
    std::vector<nk::bf16> w = signs(128 * 64, 3);
    std::vector<nk::bf16> c = signs(kRows * 64, 4);
};

float at(const std::vector<nk::bf16>& array, int place) {
    return nk::to_f32(array[static_cast<std::size_t>(place)]);
}

/// C as it must be; all sums are exact.
std::vector<float> expected(const Arrays& arrays) {
    std::vector<float> values;
    for (int i = 0; i < kRows; ++i) {
        std::vector<float> middle(128, 0.0F);
        for (int k = 0; k < kDepth; ++k)
            for (int x = 0; x < 128; ++x)
                middle[static_cast<std::size_t>(x)] +=
                    at(arrays.a, i * kDepth + k) * at(arrays.b, k * 128 + x);
        for (int j = 0; j < 64; ++j) {
            float sum = 0;
            for (int x = 0; x < 128; ++x)
                sum += nk::round_to<nk::bf16>(2 * middle[static_cast<std::size_t>(x)]) *
                       at(arrays.w, x * 64 + j);
            values.push_back(nk::round_to<nk::bf16>(sum));
        }
    }
    return values;
}

test::KernelRunner runner_of(const std::string& source, Arrays& arrays) {
    test::KernelRunner runner("chain", source, 384, kSharedBytes);
    runner.map("A", arrays.a, {kDepth, kRows}, {64, 128}, 128)
        .map("B", arrays.b, {128, kDepth}, {64, 64}, 128)
        .buffer("W", arrays.w)
        .map("C", arrays.c, {64, kRows}, {64, 128}, 128)
        .number(kTiles)
        .number(kChunks);
    return runner;
}

/// What is wrong with a kernel, with its lines where they are asked for; empty: nothing.
std::string wrong_with(const std::string& source, std::uint64_t seed, bool lines = false) {
    static const std::vector<float> right = expected(Arrays());
    Arrays arrays;
    const EmulatedRun run = runner_of(source, arrays).run(seed, 2);
    if (run.fault) {
        if (!lines) return run.fault->message;
        const int line = line_of(run.fault->place).value_or(0);
        const int other = line_of(run.fault->other).value_or(0);
        return fmt::format("{} {:3} {:3} {:3}  {}", run.fault->block, run.fault->thread, line,
                           other, run.fault->message);
    }
    int wrong = 0;
    for (std::size_t i = 0; i < right.size(); ++i)
        wrong += nk::to_f32(arrays.c[i]) != right[i];  // and NaN
    return wrong == 0 ? "" : fmt::format("{} results are wrong", wrong);
}

struct Planted {
    std::string what;
    std::string replace;
    std::string by;
    const char* said;
};

std::vector<Planted> faults_of_barriers() {
    return {
        {"barriers not fenced", "fence_barriers();", "", "without fence_barriers"},
        {"no block barrier after they are started", "    block_barrier();\n", "", "a barrier that"},
        {"a barrier started twice", "fence_barriers();", "ring.start(1, 8);",
         "a barrier that is started twice"},
        {"a barrier of no arrivals", "start_barrier(w_ready, 0, 128)",
         "start_barrier(w_ready, 0, 0)", "a barrier of 0 arrivals"},
        {"a barrier in memory that is written", "<kStages>(memory, 98304",
         "<kStages>(memory, 81920", "a barrier whose memory was written"},
        {"an arrival too many", "arrive_expecting(ring.barriers, slot, 32768);",
         "arrive_expecting(ring.barriers, slot, 32768);\narrive(ring.barriers, slot);",
         "more arrivals in a phase than the 1"},
        {"an arrival too few", "ring.start(1, 8)", "ring.start(1, 9)", "deadlock"},
        {"users counted one short", "ring.start(1, 8)", "ring.start(1, 7)",
         "bulk copy into what a product in flight reads"},
        {"released twice", "if (chunk > 0) ring.release(n - 1);",
         "if (chunk > 0) ring.release(n - 1), ring.release(n - 1);",
         "bulk copy into what a product in flight reads"},
        {"too few bytes announced", "slot, 32768)", "slot, 32752)", "more"},
        {"too many bytes announced", "slot, 32768)", "slot, 32784)", "and 16 bytes"},
        {"a wait for the other parity", "ring.wait_filled(n);",
         "wait_barrier(ring.barriers, ring.slot(n), (n / kStages & 1) ^ 1);",
         "a product's read of"},
        {"a stage that is never released", "        ring.release(n - 1);\n        for",
         "        for", "deadlock"},
        {"another count at a named barrier", "named_barrier(1, 256)",
         "named_barrier(1, row == 0 ? 256 : 128)", "come to named barrier 1 as one of"},
        {"a named barrier for the loaders too", "named_barrier(2, 256)", "named_barrier(2, 384)",
         "waits at named barrier 2, to which 256 of 384 threads came"},
        {"more registers than are given up", "take_registers<232>", "take_registers<240>",
         "for registers"},
        {"registers taken by those who have more", "take_registers<232>", "take_registers<160>",
         "a thread that has 168 registers takes 160"},
    };
}

std::vector<Planted> faults_of_copies() {
    return {
        {"a stage read before its copy", "ring.wait_filled(n);", "", "a product's read of"},
        {"a stage read by lanes that did not wait", "ring.wait_filled(n);",
         "if (lane_index() == 0) ring.wait_filled(n);", "a product's read of"},
        {"a stage refilled while it is read", "ring.wait_free(n);", "", ""},
        {"a stage released under its product", "wait_products<1>();\n", "wait_products<2>();\n",
         "bulk copy into what a product in flight reads"},
        {"a stage of another's", "operand_at<128>(b(n).data", "operand_at<128>(b(n + 1).data",
         "a product's read of"},
        {"a tile at no multiple of 128", "32768 + ring.slot(n)", "32832 + ring.slot(n)",
         "misaligned bulk copy: `B_tile`"},
        {"a box past the end of its tile", "load(a(n), A, {chunk * 64, tile * 128}",
         "start_bulk_load(a(n).data, 1024, A, {chunk * 64, tile * 128}",
         "access out of bounds: `A_tile`"},
        {"a box of another rank", "A, {chunk * 64, tile * 128}", "A, {chunk * 64, tile * 128, 0}",
         "a bulk copy of another rank than its map: `A`"},
        {"two copies into one place", "load(b(n), B, {0, chunk * 64}",
         "load(a(n), B, {0, chunk * 64}", "bulk copy into what a copy in flight writes"},
        {"a chunk too many", "chunk < chunks; ++chunk, ++n) {\n                    const int slot",
         "chunk < chunks + (tile + 2 >= tiles); ++chunk, ++n) {\n                    const int "
         "slot",
         "the block ends and nobody has waited"},
        {"W read before its copies", "wait_barrier(w_ready, 0, 0);", "", "a product's read of"},
        {"no proxy fence after W", "fence_async();  // W", "", "without fence_async"},
        {"the proxy fence before the wait for W",
         "wait_barrier(w_ready, 0, 0);\n            fence_async();  // W",
         "fence_async();\n            wait_barrier(w_ready, 0, 0);", "without fence_async"},
        {"no proxy fence before the store", "fence_async();  // C", "", "without fence_async"},
        {"the proxy fence after the barrier",
         "fence_async();  // C\n        named_barrier(2, 256);",
         "named_barrier(2, 256);\n        if (thread != 0) fence_async();", "without fence_async"},
        {"no barrier before the store", "named_barrier(2, 256);", "", "bulk store of"},
        {"results over a store in flight", "if (thread == 0) wait_stores_read<0>();  // before C",
         "", "write to what a bulk store in flight reads"},
        {"stores not committed", "commit_stores();", "", "bulk store in flight"},
        {"left before the last store", "wait_stores_read<0>();  // at the end",
         "wait_stores_read<1>();", "ends with a bulk store in flight"},
    };
}

std::vector<Planted> faults_of_products() {
    return {
        {"no fence before a product of registers", "fence_products();  // held", "",
         "written since fence_products"},
        {"the fence before what is held is written",
         "held = as_left<bf16>(acc);\n        fence_products();  // held",
         "fence_products();\n        held = as_left<bf16>(acc);", "written since fence_products"},
        {"results touched before the wait", "commit_products();\n            wait",
         "commit_products();\n            acc(0, 0) += 1.0f;\n            wait",
         "registers of a product are written before wait_products"},
        {"operands touched before the wait", "commit_products();\n        finish_multiply<0>(out);",
         "commit_products();\n        held.at[0][3][1] += 1;\n        finish_multiply<0>(out);",
         "left operand are written before wait_products"},
        {"a wait that does not cover the results", "finish_multiply<0>(acc);",
         "finish_multiply<1>(acc);", "registers are used before wait_products covers"},
        {"results read before the wait", "        finish_multiply<0>(acc);\n", "",
         "written before wait_products"},
        {"a copy of results before the wait",
         "commit_products();\n        finish_multiply<0>(out);",
         "commit_products();\n        const Fragment<1, 8> early = out;\n"
         "        finish_multiply<0>(out);\n        out = early;",
         "results are wrong"},
        {"not committed", "commit_products();\n        finish_multiply<0>(out);",
         "finish_multiply<0>(out);", ""},
        {"left with a product in flight", "commit_products();\n        finish_multiply<0>(out);",
         "commit_products();\n        if (n > 0) return;\n        finish_multiply<0>(out);",
         "ends with a product in flight"},
        {"an operand that starts at a wrong row", "row * 128, 16", "row * 128 + 512, 16",
         "starts inside a pattern of the swizzle"},
        {"the other group's rows", "row * 128, 16", "(64 - row) * 128, 16", "results are wrong"},
        {"a wrong step along rows", "further(left, step * 32)", "further(left, step * 16)",
         "results are wrong"},
        {"a wrong step along k", "further(right, step * 2048)", "further(right, step * 1024)",
         "results are wrong"},
        {"a step past the operand", "further(right, step * 2048)", "further(right, step * 8192)",
         ""},
        {"panels too close", "operand_at<128>(b(n).data, 0, 8192",
         "operand_at<128>(b(n).data, 0, 4096", "results are wrong"},
        {"another swizzle", "operand_at<128>(b(n)", "operand_at<64>(b(n)", ""},
        {"an operand not transposed", "start_product<bf16, true>(out",
         "start_product<bf16, false>(out", ""},
        {"half precision of another kind", "start_product<bf16, true>(out",
         "start_product<f16, true>(out", "results are wrong"},
        {"sums of the tile before", "chunk > 0 || step > 0", "true", "results are wrong"},
        {"a warp with operands of its own", "further(values, step * 2048)",
         "further(values, (step + warp_index() % 2) % 8 * 2048)",
         "the threads of a warp group start different products"},
        {"a thread that takes no part", "start_product<bf16, true>(out",
         "if (thread != 77) start_product<bf16, true>(out",
         "products that not all threads of its warp group have started"},
    };
}

std::string plant(const Planted& planted) {
    std::string source = kRightKernel;
    const std::size_t place = source.find(planted.replace);
    INFO(planted.what);
    REQUIRE_NE(place, std::string::npos);
    REQUIRE_EQ(source.find(planted.replace, place + 1), std::string::npos);
    return source.replace(place, planted.replace.size(), planted.by);
}

}  // namespace

TEST_CASE("emulator: a kernel of warp groups is right in every order of threads") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) CHECK_EQ(wrong_with(kRightKernel, seed), "");
}

TEST_CASE("emulator: faults planted in a kernel of warp groups are found") {
    std::vector<Planted> faults = faults_of_barriers();
    for (const std::vector<Planted>& more : {faults_of_copies(), faults_of_products()})
        faults.insert(faults.end(), more.begin(), more.end());
    std::vector<EmittedKernel> kernels;
    Arrays arrays;
    for (const Planted& planted : faults)
        kernels.push_back(runner_of(plant(planted), arrays).kernel());
    CHECK_EQ(test::compile_together(kernels), "");
    std::string table;
    for (const Planted& planted : faults) {
        // By order, not by luck: whatever the order of threads.
        for (const std::uint64_t seed : {1, 2, 3}) {
            const bool shown = seed == 1;
            const std::string said = wrong_with(plant(planted), seed, shown);
            if (shown) table += fmt::format("{:42} {}\n", planted.what, said);
            INFO(planted.what, ", seed ", seed, ": ", said);
            CHECK_UNARY(!said.empty());
            CHECK_NE(said.find(planted.said), std::string::npos);
        }
    }
    MESSAGE("planted faults, block, thread, line, the other line and what is said of them:\n"
            << table);
    CHECK_GE(faults.size(), 25);
}

}  // namespace napkin
