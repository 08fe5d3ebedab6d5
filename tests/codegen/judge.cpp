#include "tests/codegen/judge.h"

#include <filesystem>

#include "codegen/run/execute.h"
#include "diagrams/compare.h"
#include "tests/derive/programs.h"

namespace napkin::test {

std::string wrong_with(const State& state, const EmittedProgram& program, std::uint64_t seed,
                       RunOn where) {
    const Diagram& diagram = state.diagram;
    const Tensors inputs = random_inputs(diagram, seed);
    ExecuteOptions how;
    how.seed = seed;
    how.emulator_cache = std::filesystem::temp_directory_path() / "napkin-test-emulator";
    Reference reference(diagram, inputs, precision_of(state, program));
    std::string wrong;
    try {
        const Result<Execution> execution = where == RunOn::Gpu
                                                ? execute_cuda(diagram, program, inputs, how)
                                                : execute_emulated(diagram, program, inputs, how);
        if (!execution) return all_messages(execution.error(), {});
        if (execution->never_written > 0) wrong += "elements never written; ";
        if (execution->canaries_broken > 0) wrong += "writes outside the arrays; ";
        if (!execution->repeatable) wrong += "repeated runs differ; ";
        for (const ArrayId output : outputs_of(diagram)) {
            const Comparison comparison = compare(reference, output, execution->outputs.at(output));
            if (!comparison.ok) wrong += describe(comparison) + "; ";
        }
    } catch (const InternalError& error) {
        return error.what();
    }
    return wrong;
}

}  // namespace napkin::test
