// What the emulator finds wrong with kernels that copy asynchronously and use the tensor core: a
// right kernel, and one for every fault planted in it.
#include <algorithm>

#include "tests/codegen/kernel_runner.h"

namespace napkin {
namespace {

/// C = A B by blocks of 32 x 32, chunks of 16 along k in three stages, two warps. A is 61 x 96 and
/// B 96 x 56.
const std::string kRightKernel = R"(
using A_tile = Matrix<bf16, 32, 16>;
using B_tile = Matrix<bf16, 16, 32>;
constexpr int kStages = 3;
NK_DEVICE auto a_stage(unsigned char* memory, int stage) {
    return shared_matrix<bf16, 32, 16>(memory, stage * A_tile::bytes, "A_tile");
}
NK_DEVICE auto b_stage(unsigned char* memory, int stage) {
    const int from = kStages * A_tile::bytes;
    return shared_matrix<bf16, 16, 32>(memory, from + stage * B_tile::bytes, "B_tile");
}
extern "C" __global__ void __launch_bounds__(64)
    product(Global<const bf16> A, Global<const bf16> B, Global<bf16> C) {
    NK_SHARED_MEMORY(memory);
    const int m = 61;
    const int n = 56;
    const int k = 96;
    const int m0 = blockIdx.x / 2 * 32;
    const int n0 = blockIdx.x % 2 * 32;
    const int thread = threadIdx.x;
    const int row = warp_index() * 16;
    const auto load = [&](int k0, int stage) {
        copy_async<8>(a_stage(memory, stage), A, i64(m0) * k + k0, k, m - m0, k - k0, thread, 64);
        copy_async<8>(b_stage(memory, stage), B, i64(k0) * n + n0, n, k - k0, n - n0, thread, 64);
        commit_copies();
    };
    Fragment<1, 4> acc;
    acc.fill(0.0f);
    load(0, 0);
    load(16, 1);
    int now = 0;
    for (int k0 = 0; k0 < k; k0 += 16) {
        wait_copies<1>();
        block_barrier();
        load(k0 + 32, (now + 2) % kStages);
        multiply<Order::AsStored, Order::AsStored, 16>(acc, a_stage(memory, now), row,
                                                       b_stage(memory, now), 0);
        now = (now + 1) % kStages;
    }
    wait_copies<0>();  // for the chunks beyond the end
    block_barrier();  // before C
    const auto C_tile = shared_matrix<bf16, 32, 32>(memory, 0, "C_tile");
    store(acc, C_tile, row, 0);
    block_barrier();  // after C
    save_matrix<8>(C_tile, 0, 32, C, i64(m0) * n + n0, n, m - m0, n - n0, thread, 64);
}
)";

struct Finding {
    EmulatedRun run;
    std::vector<std::uint16_t> c;
};

Finding run_product(const std::string& source, std::uint64_t seed) {
    const std::uint16_t one = 0x3f80;
    std::vector<std::uint16_t> a(61 * 96, one);
    std::vector<std::uint16_t> b(96 * 56, one);
    std::vector<std::uint16_t> c(61 * 56, 0);
    test::KernelRunner runner("product", source, 64, 3 * 2048);
    const EmulatedRun run = runner.buffer("A", a).buffer("B", b).buffer("C", c).run(seed, 4);
    return {run, c};
}

struct Planted {
    std::string what;
    std::string replace;
    std::string by;
    const char* said;
};

std::vector<Planted> missing_synchronisation() {
    const std::string wait = "wait_copies<1>();\n";
    const std::string barrier = "block_barrier();\n";
    const std::string next = "load(k0 + 32, (now + 2) % kStages);\n";
    const std::string indent(8, ' ');
    return {
        {"no wait", wait, "", "copy in flight"},
        {"too weak a wait", wait, "wait_copies<2>();\n", "copy in flight"},
        {"no commit", "commit_copies();", "", "copy in flight"},
        {"no barrier after the wait", barrier, "", "read of"},
        {"barrier of the warp only", barrier, "warp_barrier();", "read of"},
        {"barrier before the wait", wait + indent + barrier, barrier + wait, "read of what"},
        {"next copy before the barrier", barrier + indent + next, next + barrier, "`A_tile`"},
        {"copy into the stage in use", next, "load(k0 + 32, now);\n", "copy in flight"},
        {"a stage too few", "kStages = 3", "kStages = 2", "`A_tile`"},
        {"two copies to one stage", "load(16, 1);", "load(16, 0);", "write to what a copy"},
        {"a stage never filled", "load(0, 0);", "commit_copies();", "never written"},
        {"no wait before memory is used again", "wait_copies<0>();  // for", "// for",
         "write to what a copy in flight writes: `C_tile`"},
        {"no barrier before results are stored", "block_barrier();  // before", "// before",
         "write to what"},
        {"no barrier after results are stored", "block_barrier();  // after", "// after", "race: "},
        {"left before the last copies", "wait_copies<0>();  // for", "return;  // for",
         "ends with a copy in flight"},
    };
}

std::vector<Planted> wrong_places() {
    return {
        {"source off by one element", "i64(m0) * k + k0", "i64(m0) * k + k0 + 1",
         "misaligned vector in device memory: `A`"},
        {"tile off by 8 bytes", "memory, stage *", "memory, 8 + stage *",
         "misaligned asynchronous copy: `A_tile`"},
        {"vectors that columns do not divide", "i64(k0) * n + n0, n, k",
         "i64(k0) * n + n0, n + 2, k", "misaligned vector in device memory: `B`"},
        {"rows not limited", "k, m - m0, k - k0", "k, 32, k - k0", "out of bounds: `A`"},
        {"rows not limited at the save", "n, m - m0, n - n0, thread", "n, 32, n - n0, thread",
         "out of bounds: `C`"},
        {"negative offset", "i64(m0) * k + k0", "i64(m0) * k + k0 - 8", "out of bounds: `A` at -8"},
        {"tile larger than shared memory", "(memory, 0, \"C", "(memory, 4608, \"C",
         "tile outside shared memory"},
        {"part outside the left tile", "now), row,", "now), row + 16,", "outside its tile: `A"},
        {"part outside the right tile", "now), 0);", "now), 8);", "outside its tile: `B"},
        {"part off its multiple", "acc.fill(0.0f);",
         "Fragment<1, 2> half;\nmultiply<Order::AsStored, Order::AsStored, 16>(half, "
         "a_stage(memory, 0), row, b_stage(memory, 0), 8);",
         "starts off the multiple"},
        {"element outside its row", "store(acc, C_tile, row, 0);", "C_tile(row, 32) = bf16{};",
         "column outside its tile: `C_tile` at 32"},
    };
}

std::vector<Planted> diverging_warps() {
    const std::string call =
        "multiply<Order::AsStored, Order::AsStored, 16>(acc, a_stage(memory, now), row,\n"
        "                                                       b_stage(memory, now), 0);";
    return {
        {"lanes at two calls", call, "if (thread % 2 == 0)\n" + call + "else\n" + call,
         "the warp diverges: its threads are at different calls of ldmatrix"},
        {"a lane stays away", call, "if (thread != 33)\n" + call, "for its warp at ldmatrix"},
        {"a lane leaves", call, "if (thread == 33) return;\n" + call, "ends with a copy in flight"},
    };
}

std::string plant(const Planted& planted) {
    std::string source = kRightKernel;
    const std::size_t at = source.find(planted.replace);
    INFO(planted.what);
    REQUIRE_NE(at, std::string::npos);
    return source.replace(at, planted.replace.size(), planted.by);
}

}  // namespace

TEST_CASE("emulator: a pipelined product is right in every order of threads") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const auto [run, c] = run_product(kRightKernel, seed);
        CHECK_MESSAGE(!run.fault.has_value(), (run.fault ? run.fault->message : ""));
        CHECK_EQ(std::count(c.begin(), c.end(), 0x42c0), 61 * 56);  // 96
        for (const nk::emulator::Traffic& traffic : run.traffic) CHECK_EQ(traffic.conflicts, 0);
    }
}

TEST_CASE("emulator: faults planted in a pipelined product are found") {
    std::string table;
    std::vector<Planted> faults = missing_synchronisation();
    for (const std::vector<Planted>& more : {wrong_places(), diverging_warps()})
        faults.insert(faults.end(), more.begin(), more.end());
    for (const Planted& planted : faults) {
        const EmulatedRun run = run_product(plant(planted), 1).run;
        const std::string said = run.fault ? run.fault->message : "nothing";
        table += planted.what + std::string(42 - planted.what.size(), ' ') + said + "\n";
        INFO(planted.what, ": ", said);
        CHECK_UNARY(run.fault.has_value());
        CHECK_NE(said.find(planted.said), std::string::npos);
    }
    MESSAGE("planted faults and what is said of them:\n" << table);
}

}  // namespace napkin
