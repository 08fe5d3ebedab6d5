#include "tests/codegen/judge.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include "codegen/run/execute.h"
#include "codegen/run/host_kernel.h"
#include "diagrams/compare.h"
#include "tests/derive/programs.h"
#include "tests/support/provided.h"

namespace napkin::test {

std::filesystem::path emulator_folder() {
    return kept_folder("emulator");
}

std::string compile_together(const std::vector<EmittedKernel>& kernels) {
    constexpr std::size_t kTogether = 32;
    const std::span<const EmittedKernel> all = kernels;
    std::string rejected;
    for (std::size_t first = 0; first < all.size(); first += kTogether) {
        const auto some = all.subspan(first, std::min(kTogether, all.size() - first));
        try {
            if (const auto failed = compile_together_for_host(some, emulator_folder()))
                rejected += failed->message + "\n";
        } catch (const InternalError& error) {
            rejected += std::string(error.what()) + "\n";
        }
    }
    return rejected;
}

std::string wrong_with(const State& state, const EmittedProgram& program, std::uint64_t seed,
                       RunOn where) {
    return wrong_with(state.diagram, state, program, seed, where);
}

std::string wrong_with(const Diagram& plain, const State& state, const EmittedProgram& program,
                       std::uint64_t seed, RunOn where) {
    const Diagram& diagram = state.diagram;
    const Tensors given = random_inputs(plain, seed);
    const Tensors inputs = tensors_in(diagram, plain, given);
    ExecuteOptions how;
    how.seed = seed;
    how.emulator_cache = emulator_folder();
    const Precision precision = precision_of(state, program);
    Reference reference = plain == diagram ? Reference(plain, given, precision)
                                           : Reference(plain, given, diagram, precision);
    std::string wrong;
    try {
        const Result<Execution> execution = where == RunOn::Gpu
                                                ? execute_cuda(diagram, program, inputs, how)
                                                : execute_emulated(diagram, program, inputs, how);
        if (!execution) return all_messages(execution.error(), {});
        if (execution->never_written > 0) wrong += "elements never written; ";
        if (execution->canaries_broken > 0) wrong += "writes outside the arrays; ";
        if (!execution->repeatable) wrong += "repeated runs differ; ";
        const Tensors outputs = tensors_in(plain, diagram, execution->outputs);
        for (const ArrayId output : outputs_of(plain)) {
            const Comparison comparison = compare(reference, output, outputs.at(output));
            if (!comparison.ok) wrong += describe(comparison) + "; ";
        }
    } catch (const InternalError& error) {
        return error.what();
    }
    return wrong;
}

}  // namespace napkin::test
