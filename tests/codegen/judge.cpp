#include "tests/codegen/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <list>
#include <memory>
#include <set>
#include <span>

#include "codegen/run/execute.h"
#include "codegen/run/host_kernel.h"
#include "diagrams/compare.h"
#include "tests/derive/programs.h"
#include "tests/support/planted.h"
#include "tests/support/provided.h"

namespace napkin::test {

namespace {

struct Run {
    const Diagram& plain;
    const State& state;
    const EmittedProgram& program;
    Chance chance;
    RunOn where;
    bool check_order = true;
};

bool alike(const Precision& a, const Precision& b) {
    return a.arithmetic == b.arithmetic && a.stored == b.stored && a.operands == b.operands &&
           a.truncates == b.truncates && a.narrow == b.narrow;
}

/// The reference is a large part of a verdict, and faults planted in one kernel are judged by the
/// same one: the last few are kept.
class References {
public:
    Reference& of(const Diagram& plain, const Diagram& executed, const Tensors& given,
                  const Precision& precision) {
        const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
            return kept.plain == plain && kept.executed == executed && kept.given == given &&
                   alike(kept.precision, precision);
        });
        if (known != kept_.end()) return *known->reference;
        if (kept_.size() == kMost) kept_.pop_front();
        Kept& fresh = kept_.emplace_back(Kept{plain, executed, given, precision, nullptr});
        fresh.reference =
            plain == executed
                ? std::make_unique<Reference>(fresh.plain, fresh.given, precision)
                : std::make_unique<Reference>(fresh.plain, fresh.given, fresh.executed, precision);
        const std::vector<ArrayId> outputs = outputs_of(fresh.plain);
        if (fresh.reference->whole_work(outputs, {.most_values = kMostValues}))
            fresh.reference->compute_whole(outputs);
        return *fresh.reference;
    }

private:
    static constexpr std::size_t kMost = 16;
    static constexpr double kMostValues = 1 << 25;
    struct Kept {
        Diagram plain;
        Diagram executed;
        Tensors given;
        Precision precision;
        std::unique_ptr<Reference> reference;
    };
    std::list<Kept> kept_;
};

/// Outputs that are yet to be judged.
struct Unjudged {
    std::vector<ArrayId> mostly;
    std::set<ArrayId> wholly;
};

/// What is wrong with a run on these inputs; what it judges leaves `unjudged`.
std::string wrong_with_inputs(const Run& run, const Tensors& given, Unjudged& unjudged) {
    const Diagram& diagram = run.state.diagram;
    const Tensors inputs = tensors_in(diagram, run.plain, given);
    ExecuteOptions how;
    how.seed = run.chance.order;
    how.resident_blocks = 1 + static_cast<std::int64_t>(run.chance.order % 4);
    how.emulator_cache = emulator_folder();
    how.check_order = run.check_order;
    const Precision precision = precision_of(run.state, run.program);
    static References references;
    Reference& reference = references.of(run.plain, diagram, given, precision);
    const Result<Execution> execution = run.where == RunOn::Gpu
                                            ? execute_cuda(diagram, run.program, inputs, how)
                                            : execute_emulated(diagram, run.program, inputs, how);
    if (!execution) return rendered(execution.error(), {});
    std::string wrong;
    if (execution->never_written > 0) wrong += "elements never written; ";
    if (execution->canaries_broken > 0) wrong += "writes outside the arrays; ";
    if (!execution->repeatable) wrong += "repeated runs differ; ";
    for (const auto& [array, tensor] : execution->outputs) {
        // What passes between kernels may be more exact than its type.
        if (diagram[array].role != ArrayRole::Output && !diagram[array].rounds) continue;
        const ElementType type = storage_type(diagram, run.state.relabelling, array);
        if (std::any_of(tensor.values.begin(), tensor.values.end(), [&](double value) {
                return !std::isnan(value) && round_to(type, value) != value;
            }))
            wrong += fmt::format("`{}` holds what is no {}; ", diagram[array].name, name_of(type));
    }
    const Tensors outputs = tensors_in(run.plain, diagram, execution->outputs);
    std::erase_if(unjudged.mostly, [&](ArrayId output) {
        const Comparison comparison = compare(reference, output, outputs.at(output));
        if (!comparison.ok) wrong += describe(comparison) + "; ";
        if (comparison.judged() > 0) unjudged.wholly.erase(output);
        return comparison.verdict() == Verdict::Right;
    });
    return wrong;
}

std::string wrong_at_some_scale(const Run& run, const std::function<void(Tensors&)>& arrange) {
    const std::vector<ArrayId> outputs = outputs_of(run.plain);
    Unjudged unjudged{outputs, {outputs.begin(), outputs.end()}};
    for (const double scale : kInputScales) {
        Tensors given = random_inputs(run.plain, run.chance.inputs, scale);
        if (arrange) arrange(given);
        try {
            std::string wrong = wrong_with_inputs(run, given, unjudged);
            if (!wrong.empty() || unjudged.mostly.empty()) return wrong;
        } catch (const InternalError& error) {
            return error.what();
        }
    }
    if (unjudged.wholly.empty()) return {};
    return "nothing of `" + run.plain[*unjudged.wholly.begin()].name + "` is judged at any scale";
}

}  // namespace

void rename_kernels(EmittedProgram& program, std::uint64_t trial) {
    for (EmittedKernel& kernel : program.kernels) {
        const std::string own = fmt::format("trial{}_{}", trial, kernel.name);
        kernel.source.replace(kernel.source.find(kernel.name + "("), kernel.name.size(), own);
        kernel.name = own;
    }
}

std::uint64_t number_from(const char* variable, std::uint64_t usual) {
    const char* given = std::getenv(variable);
    return given != nullptr ? std::stoull(given) : usual;
}

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

std::string compile_together(const std::vector<Emission>& emissions) {
    std::vector<EmittedKernel> kernels;
    for (const Emission& each : emissions)
        kernels.insert(kernels.end(), each.program.kernels.begin(), each.program.kernels.end());
    return compile_together(kernels);
}

std::string wrong_with(const State& state, const EmittedProgram& program, Chance chance,
                       RunOn where) {
    return wrong_with(state.diagram, state, program, chance, where);
}

std::string wrong_with(const Diagram& plain, const State& state, const EmittedProgram& program,
                       Chance chance, RunOn where) {
    return wrong_at_some_scale({plain, state, program, chance, where}, {});
}

std::string wrong_with(const State& state, const EmittedProgram& program, Chance chance,
                       const std::function<void(Tensors&)>& arrange, bool check_order) {
    return wrong_at_some_scale(
        {state.diagram, state, program, chance, RunOn::Emulator, check_order}, arrange);
}

std::string wrong_with_nan(const State& state, const EmittedProgram& program, std::uint64_t seed) {
    Tensors given = random_inputs(state.diagram, seed);
    if (!plant_nan(state.diagram, seed, given)) return {};
    const std::vector<ArrayId> outputs = outputs_of(state.diagram);
    Unjudged unjudged{outputs, {outputs.begin(), outputs.end()}};
    return wrong_with_inputs({state.diagram, state, program, seed, RunOn::Emulator}, given,
                             unjudged);
}

}  // namespace napkin::test
