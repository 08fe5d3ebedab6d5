// Every workload of target sm_80 compiled by NVRTC for every machine since Ampere, each with the
// shared memory that a block may have there: a table of registers, spills and shared memory, or of
// the refusal. Workloads run at small sizes in the emulator; here attention and products also have
// the sizes that they are used at. NAPKIN_PART=2/8 compiles the third of eight parts; NAPKIN_ONLY
// those whose names contain it; NAPKIN_MACHINES=sm_80,sm_90 names the machines.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "codegen/architecture.h"
#include "codegen/run/compile.h"
#include "tests/codegen/sm80_workloads.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"
#include "tests/support/provided.h"

namespace napkin {
namespace {

constexpr const char* kMachines[] = {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"};

using test::TensorWorkload;

TensorWorkload attention(int head, int value, bool causal, int queries, int keys) {
    const std::string mask = causal ? "if x <= q then S[q, x] else -inf" : "S[q, x]";
    TensorWorkload made;
    made.name = fmt::format("attention of size, heads of {}{}{}, {} x {}", head,
                            value == head ? "" : fmt::format(" and {}", value),
                            causal ? ", causal" : "", queries, keys);
    made.diagram = fmt::format(
        "diagram attention {{ axis q = 4096, x = q, d = {}, e = {}\n"
        "input Q[q, d], K[x, d], V[x, e] : bf16\n"
        "S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\nP[q, x] = softmax[x]({})\n"
        "output lse[q] : f32 = logsumexp[x]({})\n"
        "output O[q, e] : bf16 = sum(x) P[q, x] * V[x, e]\nweave b = 1, h = 16 }}",
        head, value, mask, mask);
    made.derivation = fmt::format("fuse all\ngroup q by {}\nstream x by {}", queries, keys);
    return made;
}

TensorWorkload product(const char* type, int rows, int columns, int depth) {
    TensorWorkload made;
    made.name = fmt::format("product of size, {}, {} x {} x {}", type, rows, columns, depth);
    made.diagram = fmt::format(
        "diagram product {{ axis m = 4096, n = 4096, k = 4096\n input A[m, k], B[n, k] : {}\n"
        "input bias[n], R[m, n] : bf16\n"
        "output C[m, n] : bf16 = gelu((sum(k) A[m, k] * B[n, k]) + bias[n]) + R[m, n] }}",
        type);
    made.derivation =
        fmt::format("group m by {}\ngroup n by {}\nstream k by {}", rows, columns, depth);
    return made;
}

std::vector<TensorWorkload> all_workloads() {
    std::vector<TensorWorkload> list = test::tensor_workloads();
    for (int head = 32; head <= 256; head += 16)
        for (const bool causal : {false, true})
            list.push_back(attention(head, head, causal, 128, head > 192 ? 32 : 64));
    list.push_back(attention(64, 128, true, 128, 64));
    list.push_back(attention(192, 128, true, 128, 64));
    list.push_back(attention(512, 512, true, 64, 32));
    for (const char* type : {"bf16", "f16", "tf32"}) {
        list.push_back(product(type, 128, 128, 32));
        list.push_back(product(type, 128, 256, 64));
    }
    return list;
}

bool part_of_ours(unsigned at) {
    unsigned part = 0;
    unsigned parts = 1;
    if (const char* wanted = std::getenv("NAPKIN_PART"))
        REQUIRE_EQ(std::sscanf(wanted, "%u/%u", &part, &parts), 2);
    return at % parts == part;
}

bool chosen(const std::string& name, const char* variable) {
    const char* only = std::getenv(variable);
    return only == nullptr || name.find(only) != std::string::npos;
}

bool machine_chosen(const std::string& machine) {
    const char* only = std::getenv("NAPKIN_MACHINES");
    return only == nullptr ||
           ("," + std::string(only) + ",").find("," + machine + ",") != std::string::npos;
}

State state_of(const TensorWorkload& workload) {
    const std::filesystem::path examples = NAPKIN_EXAMPLES_DIR;
    const bool is_text = workload.diagram.find('{') != std::string::npos;
    return test::derive(
        test::load(
            is_text ? workload.diagram : test::read_text(examples / (workload.diagram + ".ncd")),
            workload.sizes),
        workload.derivation);
}

/// What the table says of a workload on a machine: registers, bytes of spills where there are any,
/// bytes of shared memory, of every kernel; or the refusal's code.
std::string compiled_for(const State& state, const std::string& machine) {
    const Result<EmitOptions> options = emit_options_for("sm_80", machine);
    REQUIRE(options.has_value());
    const Result<EmittedProgram> program = emit(state, test::program_of(state), *options);
    if (!program) {
        const Diagnostic& why = program.error().list.front();
        const std::string limit = std::to_string(options->shared_memory);
        if (why.code == "E0902") CHECK_NE(why.message.find(limit), std::string::npos);
        CHECK_NE(why.help, "");
        return why.code == "E0902" ? why.message.substr(why.message.find("needs")) : why.code;
    }
    std::string cell;
    for (const EmittedKernel& kernel : program->kernels) {
        CHECK_LE(kernel.shared_bytes, options->shared_memory);
        CompileOptions how;
        how.architecture = machine;
        how.use_cache = false;
        const Result<CompiledKernel> compiled = compile(kernel, how);
        if (!cell.empty()) cell += "; ";
        if (!compiled && compiled.error().list.front().code == "E0912") return "unknown to NVRTC";
        if (!compiled) {
            FAIL_CHECK(test::rendered(compiled.error(), {}));
            return "does not compile";
        }
        const std::int64_t spills =
            compiled->spill_stores.value_or(0) + compiled->spill_loads.value_or(0);
        cell +=
            fmt::format("{} regs{}, {} B", compiled->registers.value_or(0),
                        spills > 0 ? fmt::format(", {} spilled", spills) : "", kernel.shared_bytes);
    }
    return cell;
}

}  // namespace

TEST_CASE("machines: every workload compiles for every machine, or is refused with the number") {
    if (!test::provided("nvrtc", nvrtc_status().missing)) return;
    std::printf("| workload |");
    for (const char* machine : kMachines)
        if (machine_chosen(machine)) std::printf(" %s |", machine);
    std::printf("\n");
    unsigned at = 0;
    for (const TensorWorkload& workload : all_workloads()) {
        if (!part_of_ours(at++) || !chosen(workload.name, "NAPKIN_ONLY")) continue;
        INFO(workload.name);
        const State state = state_of(workload);
        std::printf("| %s |", workload.name.c_str());
        for (const char* machine : kMachines) {
            if (!machine_chosen(machine)) continue;
            std::printf(" %s |", compiled_for(state, machine).c_str());
            std::fflush(stdout);
        }
        std::printf("\n");
    }
}

}  // namespace napkin
