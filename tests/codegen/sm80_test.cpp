// Target sm_80: every workload through derivation, emission and the emulator, within the derived
// tolerance; what it refuses, with the reason; and every kernel through NVRTC.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "codegen/run/compile.h"
#include "tests/codegen/judge.h"
#include "tests/codegen/sm80_workloads.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"

namespace napkin {
namespace {

using test::TensorWorkload;

Diagram diagram_of(const TensorWorkload& workload, const Sizes& sizes) {
    if (workload.diagram.find('{') != std::string::npos) return test::load(workload.diagram, sizes);
    const std::filesystem::path examples = NAPKIN_EXAMPLES_DIR;
    return test::load(test::read_text(examples / (workload.diagram + ".ncd")), sizes);
}

State state_of(const TensorWorkload& workload, Sizes sizes) {
    for (const auto& [axis, size] : workload.sizes) sizes.emplace(axis, size);
    return test::derive(diagram_of(workload, sizes), workload.derivation);
}

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

std::string runs_wrongly(const State& state, const EmittedProgram& program, std::uint64_t seeds) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
        if (std::string wrong = test::wrong_with(state, program, seed); !wrong.empty())
            return "seed " + std::to_string(seed) + ": " + wrong;
    return {};
}

}  // namespace

TEST_CASE("sm_80: every workload agrees with the reference in the emulator, or is refused") {
    for (const TensorWorkload& workload : chosen()) {
        INFO(workload.name);
        try {
            const State state = state_of(workload, {});
            const Result<EmittedProgram> program = emitted(state);
            if (program) {
                CHECK_EQ(workload.refused, "");
                CHECK_EQ(runs_wrongly(state, *program, workload.everywhere ? 4 : 2), "");
                continue;
            }
            const Diagnostic& refusal = program.error().list.front();
            CHECK_EQ(refusal.code, "E0905");
            CHECK_NE(refusal.help, "");
            CHECK_MESSAGE((!workload.refused.empty() &&
                           refusal.message.find(workload.refused) != std::string::npos),
                          refusal.message);
        } catch (const InternalError& error) {
            FAIL_CHECK(std::string(error.what()));
        }
    }
}

TEST_CASE("sm_80: kernels with run-time sizes serve other sizes") {
    for (const TensorWorkload& workload : chosen()) {
        if (workload.others.empty()) continue;
        INFO(workload.name);
        try {
            EmitOptions options;
            options.dynamic_sizes = true;
            const State state = state_of(workload, {});
            const Result<EmittedProgram> program = emitted(state, options);
            REQUIRE(program.has_value());
            CHECK_EQ(runs_wrongly(state, *program, 1), "");
            for (const Sizes& sizes : workload.others)
                CHECK_EQ(runs_wrongly(state_of(workload, sizes), *program, 1), "");
        } catch (const InternalError& error) {
            FAIL_CHECK(std::string(error.what()));
        }
    }
}

}  // namespace napkin
