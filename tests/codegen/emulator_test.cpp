// The emulator on kernels written by hand: a right one, and one for every fault that it must find.
#include "codegen/run/emulator.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "codegen/run/compile.h"
#include "codegen/run/execute.h"
#include "codegen/run/host_kernel.h"
#include "tests/codegen/judge.h"
#include "tests/support/provided.h"

namespace napkin {
namespace {

/// A kernel that reverses 64 numbers inside each block, through shared memory.
EmittedKernel reverse_kernel(const std::string& barrier, const std::string& extra = "") {
    EmittedKernel kernel;
    kernel.name = "reverse";
    kernel.threads = 64;
    kernel.shared_bytes = 256;
    kernel.source = R"(#include "napkin.cuh"
namespace nk {
extern "C" __global__ void __launch_bounds__(64) reverse(Global<const float> in, Global<float> out) {
    NK_SHARED_MEMORY(memory);
    const Shared<float> tile = shared_tile<float>(memory, 0, 64, "tile");
    const int i = threadIdx.x;
    const int base = blockIdx.x * 64;
    tile[i] = in[base + i];
    )" + barrier + extra +
                    R"(
    out[base + i] = tile[63 - i];
}
}
)";
    return kernel;
}

std::optional<EmulatorFault> run(const EmittedKernel& kernel, std::vector<float>& in,
                                 std::vector<float>& out) {
    const Result<HostKernel> compiled = compile_for_host(kernel, test::emulator_folder());
    REQUIRE(compiled.has_value());
    EmulatedLaunch launch;
    launch.entry = compiled->entry;
    launch.arguments.push_back({in.data(), static_cast<long long>(in.size()), 0, "in"});
    launch.arguments.push_back({out.data(), static_cast<long long>(out.size()), 0, "out"});
    launch.blocks = static_cast<std::int64_t>(in.size()) / 64;
    launch.threads = kernel.threads;
    launch.shared_bytes = kernel.shared_bytes;
    return run_emulated(launch).fault;
}

std::optional<EmulatorFault> run(const EmittedKernel& kernel, std::size_t size = 192) {
    std::vector<float> in(192, 1.0f);
    std::vector<float> out(size, 0.0f);
    return run(kernel, in, out);
}

}  // namespace

TEST_CASE("emulator: a right kernel gives right values") {
    std::vector<float> in;
    for (int i = 0; i < 192; ++i) in.push_back(static_cast<float>(i));
    std::vector<float> out(192, -1.0f);
    const std::optional<EmulatorFault> fault = run(reverse_kernel("block_barrier();"), in, out);
    CHECK_MESSAGE(!fault.has_value(), (fault ? fault->message : ""));
    for (std::size_t i = 0; i < 192; ++i)
        CHECK_EQ(out[i], static_cast<float>(i / 64 * 64 + 63 - i % 64));
}

TEST_CASE("emulator: planted faults are found") {
    struct Planted {
        const char* what;
        std::string barrier;
        std::string extra;
        std::size_t size;
        const char* said;
    };
    const std::string wait = "block_barrier();";
    const std::vector<Planted> table = {
        {"no barrier", "", "", 192, "read of"},
        {"barrier for one warp only", "warp_barrier();", "", 192, "read of"},
        {"only half the threads wait", "if (i < 32) block_barrier();", "", 192, ""},
        {"threads wait at different places",
         "if (i < 32) {\n block_barrier();\n } else {\n block_barrier();\n }", "", 192,
         "different barriers"},
        {"early exit", "if (i == 5) return;\n block_barrier();", "", 192, "deadlock"},
        {"index past the tile", wait, "float x = tile[i + 1];", 192, "out of bounds: `tile` at 64"},
        {"index below the tile", wait, "float x = tile[i - 1];", 192,
         "out of bounds: `tile` at -1"},
        {"write past an array", wait, "", 128, "out of bounds: `out`"},
        {"write while others read", wait, "float x = tile[0]; tile[0] = x;", 192, "race"},
        {"two writers", wait, "tile[1] = 2.0f;", 192, "race"},
    };
    for (const Planted& planted : table) {
        INFO(planted.what);
        const std::optional<EmulatorFault> fault =
            run(reverse_kernel(planted.barrier, planted.extra), planted.size);
        REQUIRE(fault.has_value());
        CHECK_MESSAGE(fault->message.find(planted.said) != std::string::npos, fault->message);
    }
}

TEST_CASE("emulator: a race is reported with both lines of the kernel") {
    const std::optional<EmulatorFault> fault =
        run(reverse_kernel("block_barrier();",
                           "if (i == 3) tile[1] = 2.0f;\n"
                           "if (i == 40) tile[1] = 3.0f;\nblock_barrier();"));
    REQUIRE(fault.has_value());
    CHECK_MESSAGE(fault->message.find("race: write to") == 0, fault->message);
    const int line = line_of(fault->place).value_or(0);
    const int other = line_of(fault->other).value_or(0);
    CHECK_EQ(std::min(line, other), 9);
    CHECK_EQ(std::max(line, other), 10);
}

TEST_CASE("emulator: what the host compiler rejects is our bug") {
    CHECK_THROWS_AS(static_cast<void>(run(reverse_kernel("not a statement;"))), InternalError);
}

TEST_CASE("nvrtc: a kernel compiles for every architecture asked for") {
    if (!test::provided("nvrtc", nvrtc_status().missing)) return;
    const std::filesystem::path cache = test::kept_folder("kernels");
    std::filesystem::remove_all(cache);
    const EmittedKernel kernel = reverse_kernel("block_barrier();");
    for (const char* architecture : {"sm_80", "sm_90"}) {
        CompileOptions options;
        options.architecture = architecture;
        options.cache = cache;
        const Result<CompiledKernel> first = compile(kernel, options);
        REQUIRE(first.has_value());
        CHECK_FALSE(first->cached);
        CHECK_EQ(first->image, KernelImage::Cubin);
        CHECK_GT(first->registers.value_or(0), 4);
        CHECK_EQ(first->spill_stores.value_or(-1), 0);
        const Result<CompiledKernel> again = compile(kernel, options);
        REQUIRE(again.has_value());
        CHECK_UNARY(again->cached);
        CHECK_EQ(again->bytes, first->bytes);
        CHECK_EQ(again->registers, first->registers);
        options.image = KernelImage::Ptx;
        const Result<CompiledKernel> ptx = compile(kernel, options);
        REQUIRE(ptx.has_value());
        CHECK_NE(ptx->bytes.find(".visible .entry reverse"), std::string::npos);
        CHECK_EQ(ptx->bytes.find('\0'), std::string::npos);
    }
    CompileOptions options;
    options.architecture = "sm_12345";
    options.cache = cache;
    const Result<CompiledKernel> unknown = compile(kernel, options);
    REQUIRE_FALSE(unknown.has_value());
    CHECK_EQ(unknown.error().list.front().code, "E0912");
    CHECK_EQ(unknown.error().list.front().failure, Failure::Missing);
    CHECK_THROWS_AS(static_cast<void>(compile(reverse_kernel("not a statement;"))), InternalError);
}

}  // namespace napkin
