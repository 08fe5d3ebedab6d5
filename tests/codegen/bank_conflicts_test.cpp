// Kernels of target sm_80 reach shared memory without bank conflicts.
#include <filesystem>

#include "codegen/run/execute.h"
#include "tests/codegen/judge.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"

namespace napkin {
namespace {

Execution execute_counted(const std::string& name, const Sizes& sizes) {
    const std::filesystem::path examples = NAPKIN_EXAMPLES_DIR;
    const Diagram diagram = test::load(test::read_text(examples / (name + ".ncd")), sizes);
    const State state = test::derive(diagram, test::read_text(examples / (name + ".drv")));
    const Result<TileProgram> tiles = expand(state);
    REQUIRE(tiles.has_value());
    EmitOptions options;
    options.target = "sm_80";
    const Result<EmittedProgram> program = emit(state, *tiles, options);
    REQUIRE(program.has_value());
    ExecuteOptions how;
    how.count_bank_conflicts = true;
    how.emulator_cache = test::emulator_folder();
    const Result<Execution> execution =
        execute_emulated(state.diagram, *program, random_inputs(state.diagram, 3), how);
    REQUIRE(execution.has_value());
    return *execution;
}

}  // namespace

TEST_CASE("bank conflicts: none in kernels of the tensor core") {
    using nk::emulator::AccessKind;
    const std::vector<std::pair<std::string, Sizes>> workloads = {
        {"matmul", {{"a", 100}, {"b", 72}, {"c", 136}}},
        {"attention", {{"b", 1}, {"h", 1}, {"q", 150}, {"x", 100}, {"d", 80}}},
        {"swiglu", {{"n", 64}, {"d", 48}, {"f", 64}}},
    };
    for (const auto& [name, sizes] : workloads) {
        const Execution execution = execute_counted(name, sizes);
        for (const AccessKind kind : {AccessKind::Matrices, AccessKind::Copies, AccessKind::Vectors,
                                      AccessKind::Elements}) {
            INFO(name, ", kind ", static_cast<int>(kind));
            const nk::emulator::Traffic& traffic =
                execution.traffic[static_cast<std::size_t>(kind)];
            CHECK_GT(traffic.accesses, 0);
            CHECK_EQ(traffic.conflicts, 0);
        }
    }
}

}  // namespace napkin
