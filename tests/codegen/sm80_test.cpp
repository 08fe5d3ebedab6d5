// Target sm_80: every workload through derivation, emission and the emulator, within the derived
// tolerance; what it refuses, with the reason; and every kernel through NVRTC.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "codegen/run/compile.h"
#include "tests/codegen/judge.h"
#include "tests/codegen/tensor_states.h"

namespace napkin {
namespace {

using test::TensorWorkload;

/// NAPKIN_DUMP names a folder for the kernels.
Result<EmittedProgram> emitted(const State& state, EmitOptions options = {}) {
    options.target = "sm_80";
    Result<EmittedProgram> program = emit(state, test::program_of(state), options);
    if (const char* folder = std::getenv("NAPKIN_DUMP"); folder != nullptr && program)
        for (const EmittedKernel& kernel : program->kernels)
            std::ofstream(std::filesystem::path(folder) / (kernel.name + ".cu")) << kernel.source;
    return program;
}

/// Workloads whose names contain NAPKIN_ONLY; all without it.
std::vector<TensorWorkload> chosen() {
    std::vector<TensorWorkload> list = test::tensor_workloads();
    if (const char* only = std::getenv("NAPKIN_ONLY"); only != nullptr)
        std::erase_if(list, [&](const TensorWorkload& workload) {
            return workload.name.find(only) == std::string::npos;
        });
    return list;
}

/// A workload, derived and lowered; `why` is what went wrong on the way.
struct Lowered {
    TensorWorkload workload;
    std::optional<State> state;
    std::optional<Result<EmittedProgram>> program;
    std::string why;
};

std::vector<Lowered> lowered(const std::vector<TensorWorkload>& workloads,
                             const EmitOptions& options = {}) {
    std::vector<Lowered> list;
    std::vector<EmittedKernel> kernels;
    for (const TensorWorkload& workload : workloads) {
        Lowered each{.workload = workload, .state = {}, .program = {}, .why = {}};
        try {
            each.state = test::state_of(workload);
            each.program = emitted(*each.state, options);
        } catch (const InternalError& error) {
            each.why = error.what();
        }
        if (each.program && *each.program)
            kernels.insert(kernels.end(), (*each.program)->kernels.begin(),
                           (*each.program)->kernels.end());
        list.push_back(std::move(each));
    }
    CHECK_EQ(test::compile_together(kernels), "");
    return list;
}

std::string runs_wrongly(const State& state, const EmittedProgram& program, std::uint64_t orders) {
    for (std::uint64_t order = 1; order <= orders; ++order)
        if (std::string wrong = test::wrong_with(state, program, {1, order}); !wrong.empty())
            return "order " + std::to_string(order) + ": " + wrong;
    return {};
}

}  // namespace

TEST_CASE("sm_80: every workload agrees with the reference in the emulator, or is refused") {
    for (const Lowered& each : lowered(chosen())) {
        const TensorWorkload& workload = each.workload;
        INFO(workload.name);
        CHECK_EQ(each.why, "");
        if (!each.program) continue;
        if (*each.program) {
            CHECK_EQ(workload.refused, "");
            CHECK_EQ(runs_wrongly(*each.state, **each.program, workload.everywhere ? 4 : 2), "");
            continue;
        }
        const Diagnostic& refusal = each.program->error().list.front();
        CHECK_EQ(refusal.code, "E0905");
        CHECK_NE(refusal.help, "");
        CHECK_MESSAGE((!workload.refused.empty() &&
                       refusal.message.find(workload.refused) != std::string::npos),
                      refusal.message);
    }
}

TEST_CASE("sm_80: random operations on odd rows agree with the reference in the emulator") {
    int in_vectors = 0;
    for (const Lowered& each : lowered(test::odd_row_workloads(1, 40))) {
        INFO(each.workload.name);
        REQUIRE_EQ(each.why, "");
        REQUIRE(each.program);
        REQUIRE(each.program->has_value());
        const std::string& source = (*each.program)->kernels.front().source;
        in_vectors += source.find("in_row<") == std::string::npos ? 0 : 1;
        CHECK_EQ(runs_wrongly(*each.state, **each.program, 1), "");
    }
    CHECK_GE(in_vectors, 5);
    CHECK_LE(in_vectors, 35);
}

TEST_CASE("sm_80: kernels with run-time sizes serve other sizes") {
    std::vector<TensorWorkload> workloads = chosen();
    std::erase_if(workloads,
                  [](const TensorWorkload& workload) { return workload.others.empty(); });
    EmitOptions options;
    options.dynamic_sizes = true;
    for (const Lowered& each : lowered(workloads, options)) {
        INFO(each.workload.name);
        CHECK_EQ(each.why, "");
        REQUIRE(each.program);
        REQUIRE(each.program->has_value());
        CHECK_EQ(runs_wrongly(*each.state, **each.program, 1), "");
        for (const Sizes& sizes : each.workload.others)
            CHECK_EQ(runs_wrongly(test::state_of(each.workload, sizes), **each.program, 1), "");
    }
}

}  // namespace napkin
