// What kernels require of a launch: sizes, strides, the range of indices; and places in arrays
// beyond 2^31 elements.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <filesystem>
#include <list>

#include "codegen/run/buffers.h"
#include "codegen/run/emulator.h"
#include "codegen/run/execute.h"
#include "codegen/run/host_kernel.h"
#include "tests/codegen/judge.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"

namespace napkin {
namespace {

constexpr const char* kProduct =
    "diagram product { axis m = 40, n = 24, k = 32\n input A[m, k], B[n, k] : bf16\n"
    "output C[m, n] : f32 = sum(k) A[m, k] * B[n, k] }";
constexpr const char* kSteps = "group m by 16\ngroup n by 16\nstream k by 16";

EmittedProgram emitted_kernels(const State& state, EmitOptions options) {
    const Result<EmittedProgram> program = emit(state, test::program_of(state), options);
    if (!program) FAIL(test::rendered(program.error(), {}));
    return *program;
}

std::string code_of(const std::optional<Diagnostic>& refused) {
    if (!refused) return "";
    CHECK_NE(refused->help, "");
    return refused->code;
}

/// Device memory of which only what is touched is there.
class SparseMemory {
public:
    explicit SparseMemory(std::size_t bytes) : bytes_(bytes) {
        data_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        REQUIRE(data_ != MAP_FAILED);
    }
    ~SparseMemory() { ::munmap(data_, bytes_); }
    SparseMemory(const SparseMemory&) = delete;
    SparseMemory& operator=(const SparseMemory&) = delete;
    template <class T>
    [[nodiscard]] T* as() const {
        return static_cast<T*>(data_);
    }

private:
    std::size_t bytes_ = 0;
    void* data_ = nullptr;
};

/// Runs the product on arrays whose rows are this far apart; counts wrong elements.
int wrong_elements(const std::string& target, std::int64_t row) {
    const State state = test::derive(test::load(kProduct), kSteps);
    EmitOptions options;
    options.target = target;
    options.free_strides = true;
    const EmittedKernel kernel = emitted_kernels(state, options).kernels.front();
    const Result<HostKernel> compiled = compile_for_host(kernel, test::emulator_folder());
    REQUIRE(compiled.has_value());
    const SparseMemory a(static_cast<std::size_t>(40 * row * 2));
    const SparseMemory b(static_cast<std::size_t>(24 * row * 2));
    const SparseMemory c(static_cast<std::size_t>(40 * row * 4));
    constexpr std::uint16_t kOne = 0x3f80;
    constexpr std::uint16_t kTwo = 0x4000;
    for (std::int64_t i = 0; i < 40; ++i)
        for (std::int64_t k = 0; k < 32; ++k)
            a.as<std::uint16_t>()[i * row + k] = i < k ? kTwo : kOne;
    for (std::int64_t j = 0; j < 24; ++j)
        for (std::int64_t k = 0; k < 32; ++k)
            b.as<std::uint16_t>()[j * row + k] = j < k ? kTwo : kOne;
    EmulatedLaunch launch;
    launch.entry = compiled->entry;
    launch.blocks = blocks_of(kernel, extents_of(state.diagram));
    launch.threads = kernel.threads;
    launch.shared_bytes = kernel.shared_bytes;
    for (const KernelParameter& parameter : kernel.parameters) {
        nk::emulator::Argument argument;
        argument.name = parameter.name.c_str();
        argument.integer = row;
        if (parameter.kind == KernelParameter::Kind::Buffer) {
            const std::string& name = state.diagram[parameter.array].name;
            argument.data = (name == "A" ? a : name == "B" ? b : c).as<void>();
            argument.integer = (name == "B" ? 24 : 40) * row;
        }
        launch.arguments.push_back(argument);
    }
    const EmulatedRun run = run_emulated(launch);
    CHECK_MESSAGE(!run.fault.has_value(), (run.fault ? run.fault->message : ""));
    int wrong = 0;
    for (std::int64_t i = 0; i < 40; ++i)
        for (std::int64_t j = 0; j < 24; ++j) {
            float expected = 0;
            for (std::int64_t k = 0; k < 32; ++k)
                expected += (i < k ? 2.0F : 1.0F) * (j < k ? 2.0F : 1.0F);
            if (c.as<float>()[i * row + j] != expected) ++wrong;
        }
    return wrong;
}

}  // namespace

TEST_CASE("a launch that a kernel was not made for is refused") {
    const char* text =
        "diagram rows { axis m = 12 dynamic, n = 16, p = 8 dynamic\n input A[m, n, p] : f32\n"
        "output B[m, n] : f32 = sum(p) A[m, n, p] }";
    const State state = test::derive(test::load(text), "group m by 4");
    const EmittedKernel kernel = emitted_kernels(state, {}).kernels.front();
    const auto code_at = [&](const Sizes& sizes) {
        return code_of(check_contract(test::load(text, sizes), kernel));
    };
    CHECK_EQ(code_at({}), "");
    CHECK_EQ(code_at({{"m", 1}, {"p", 3}}), "");
    CHECK_EQ(code_at({{"n", 15}}), "E0918");
    CHECK_EQ(code_at({{"p", 9}}), "E0919");
    CHECK_EQ(code_at({{"m", (std::int64_t{1} << 30) + 1}}), "E0922");
    // Before anything of that size is asked for.
    EmittedProgram program;
    program.kernels = {kernel};
    const Result<Execution> refused =
        execute_emulated(test::load(text, {{"m", std::int64_t{1} << 40}}), program, {});
    REQUIRE_FALSE(refused.has_value());
    CHECK_EQ(refused.error().list.front().code, "E0922");
}

TEST_CASE("a grid larger than any is refused") {
    const char* text =
        "diagram many { axis m = 4 dynamic, n = 4 dynamic\n input A[m, n] : f32\n"
        "output B[m, n] : f32 = A[m, n] + 1 }";
    const State state = test::derive(test::load(text), "group m by 1\ngroup n by 1");
    const EmittedKernel kernel = emitted_kernels(state, {}).kernels.front();
    CHECK_EQ(code_of(check_contract(test::load(text, {{"m", 1 << 16}, {"n", 1 << 16}}), kernel)),
             "E0920");
}

TEST_CASE("strides that vectors do not divide are refused") {
    const char* text =
        "diagram batched { axis m = 16 dynamic, k = 24 dynamic\n input A[m, k] : bf16\n"
        "output B[m, k] : f32 = A[m, k] * 2\n weave b = 3 dynamic }";
    const State state = test::derive(test::load(text), "group m by 8\ngroup k by 8");
    EmittedKernel kernel = emitted_kernels(state, {}).kernels.front();
    for (KernelParameter& parameter : kernel.parameters)
        if (parameter.kind == KernelParameter::Kind::Stride) parameter.multiple = 8;
    CHECK_EQ(code_of(check_contract(test::load(text), kernel)), "");
    CHECK_EQ(code_of(check_contract(test::load(text, {{"k", 25}}), kernel)), "E0923");
    // With one index there is no step.
    CHECK_EQ(code_of(check_contract(test::load(text, {{"k", 25}, {"b", 1}, {"m", 1}}), kernel)),
             "");
}

TEST_CASE("an axis longer than indices reach is refused") {
    const Diagram diagram = test::load(
        "diagram long { axis n = 4294967296\n input A[n] : f32\n output B[n] : f32 = A[n] * 2 }");
    const State state = test::derive(diagram, "group n by 256");
    const Result<EmittedProgram> program = emit(state, test::program_of(state), {});
    REQUIRE_FALSE(program.has_value());
    CHECK_EQ(program.error().list.front().code, "E0908");
    CHECK_NE(program.error().list.front().help, "");
}

TEST_CASE("more blocks than a launch has are refused, where sizes are not those of a run") {
    const Diagram diagram = test::load(
        "diagram large { axis a = 65536, b = 65536\n input X[a], Y[b] : f32\n"
        "output Z[a, b] : f32 = X[a] * Y[b] }");
    EmitOptions at_run_time;
    at_run_time.dynamic_sizes = true;
    struct Case {
        const char* steps;
        EmitOptions options;
        std::string code;
    };
    for (const Case& each : {Case{"group a by 1\ngroup b by 1", {}, "E0909"},
                             Case{"group a by 2\ngroup b by 1", {}, "E0909"},  // 2^31
                             Case{"group a by 4\ngroup b by 1", {}, ""},
                             Case{"group a by 1\ngroup b by 1", at_run_time, ""}}) {
        INFO(each.steps);
        const State state = test::derive(diagram, each.steps);
        const Result<EmittedProgram> program = emit(state, test::program_of(state), each.options);
        CHECK_EQ(program ? "" : program.error().list.front().code, each.code);
    }
}

TEST_CASE("elements further than 2^31 from the first are found where they are") {
    for (const char* target : {"simt", "sm_80"}) {
        INFO(target);
        CHECK_EQ(wrong_elements(target, 40), 0);
        CHECK_EQ(wrong_elements(target, (std::int64_t{1} << 27) + 8), 0);
    }
}

TEST_CASE("places in arrays of more than 2^31 elements are computed in 64 bits") {
    for (const char* target : {"simt", "sm_80"})
        for (const std::int64_t rows : {std::int64_t{1} << 20, std::int64_t{1} << 26}) {
            INFO(target, " ", rows);
            const State state =
                test::derive(test::load("diagram large { axis m = " + std::to_string(rows) +
                                        ", n = 64, k = 64\n input A[m, k], B[n, k] : bf16\n"
                                        "output C[m, n] : bf16 = sum(k) A[m, k] * B[n, k] }"),
                             "group m by 32\ngroup n by 32\nstream k by 32");
            EmitOptions options;
            options.target = target;
            const std::string source = emitted_kernels(state, options).kernels.front().source;
            CHECK_EQ(source.find("i64(m0") != std::string::npos, rows == std::int64_t{1} << 26);
        }
}

TEST_CASE("results of one kernel have places of their own where strides are the caller's") {
    const std::filesystem::path folder = NAPKIN_BENCHMARKS_DIR;
    const State state = test::derive(
        test::load(test::read_text(folder / "attention_backward_causal.ncd"), {{"d", 64}}),
        test::read_text(folder / "sm_90a" / "attention_backward_causal_d64.drv"));
    EmitOptions options;
    options.target = "sm_90a";
    options.free_strides = true;
    const std::string source = emitted_kernels(state, options).kernels.front().source;
    for (const char* place : {"const i64 dK_at = ", "const i64 dV_at = "})
        CHECK_NE(source.find(place), std::string::npos);
}

}  // namespace napkin
