// Every workload of every target on this machine's GPU, judged as the command line does: two seeds,
// poisoned outputs, guard zones around every buffer, repeated runs equal bit by bit. Prints a line
// a workload. NAPKIN_PART=2/8 runs the third of eight parts; NAPKIN_ONLY those whose names contain
// it.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "codegen/run/execute.h"
#include "diagrams/contains.h"
#include "diagrams/infinity.h"
#include "tests/codegen/judge.h"
#include "tests/codegen/sm80_workloads.h"
#include "tests/codegen/workloads.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"

namespace napkin {
namespace {

/// One workload of either kind.
struct Subject {
    std::string target;
    std::string name;
    std::string diagram;
    Sizes sizes;
    std::string derivation;
    std::vector<Sizes> others;
    bool refused = false;
};

std::vector<Subject> all_subjects() {
    std::vector<Subject> list;
    for (const test::TensorWorkload& workload : test::tensor_workloads())
        list.push_back({"sm_80", workload.name, workload.diagram, workload.sizes,
                        workload.derivation, workload.others, !workload.refused.empty()});
    for (const test::Workload& workload : test::workloads())
        list.push_back({"simt",
                        workload.name,
                        workload.diagram,
                        workload.sizes,
                        workload.derivation,
                        {},
                        false});
    return list;
}

std::vector<Subject> chosen() {
    const char* only = std::getenv("NAPKIN_ONLY");
    unsigned part = 0;
    unsigned parts = 1;
    if (const char* wanted = std::getenv("NAPKIN_PART"))
        REQUIRE_EQ(std::sscanf(wanted, "%u/%u", &part, &parts), 2);
    std::vector<Subject> mine;
    unsigned at = 0;
    for (Subject& subject : all_subjects())
        if (at++ % parts == part &&
            (only == nullptr || subject.name.find(only) != std::string::npos))
            mine.push_back(std::move(subject));
    return mine;
}

State state_of(const Subject& subject, Sizes sizes = {}) {
    for (const auto& [axis, size] : subject.sizes) sizes.emplace(axis, size);
    const bool is_text = subject.diagram.find('{') != std::string::npos;
    const std::filesystem::path examples = NAPKIN_EXAMPLES_DIR;
    const std::string text =
        is_text ? subject.diagram : test::read_text(examples / (subject.diagram + ".ncd"));
    return test::derive(test::load(text, sizes), subject.derivation);
}

Result<EmittedProgram> emitted(const Subject& subject, const State& state, bool dynamic) {
    const DeviceStatus device = device_status();
    REQUIRE_MESSAGE(device.missing.empty(), device.missing);
    Result<EmitOptions> options = emit_options_for(subject.target, device.architecture);
    if (!options) return options.error();
    options->dynamic_sizes = dynamic;
    return emit(state, test::program_of(state), *options);
}

void print_line(const Subject& subject, const std::string& sizes, const std::string& verdict) {
    std::printf("%-6s %-44s %-8s %s\n", subject.target.c_str(), subject.name.c_str(), sizes.c_str(),
                verdict.c_str());
    std::fflush(stdout);
}

std::string judged(const State& state, const EmittedProgram& program, std::uint64_t seeds) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
        if (std::string wrong = test::wrong_with(state, program, seed, test::RunOn::Gpu);
            !wrong.empty())
            return "seed " + std::to_string(seed) + ": " + wrong;
    return {};
}

/// Where a result may be not finite though the reference is: on the tensor core 0 times infinity is
/// NaN, not 0, also where a mask made the 0.
enum class Spread { Nowhere, WhereReached, Anywhere };

/// Every 61st element of these inputs becomes infinite or, where nothing but sums of products reads
/// it, no number.
struct OddCase {
    std::string target;
    std::string workload;
    std::vector<std::string> inputs;
    bool with_nan = false;
    Spread spread = Spread::Nowhere;
};

using OddValues = std::array<double, 4>;

void make_odd(const Diagram& diagram, const OddCase& odd, const OddValues& values,
              Tensors& inputs) {
    for (auto& [array, tensor] : inputs)
        if (contains(odd.inputs, diagram[array].name))
            for (std::size_t i = 3; i < tensor.values.size(); i += 61)
                tensor.values[i] = values[i / 61 % values.size()];
}

/// Whether infinities and NaN stand where they should, and all else agrees to two digits.
bool agrees(double expected, double found, bool may_spread) {
    if (may_spread && !std::isfinite(found)) return true;
    if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) == std::isnan(found);
    if (std::isinf(expected) || std::isinf(found)) return expected == found;
    return std::abs(expected - found) <= 0.02 * (1 + std::abs(expected));
}

}  // namespace

TEST_CASE("gpu: every workload agrees with the reference, or is refused") {
    for (const Subject& subject : chosen()) {
        INFO(subject.target, ": ", subject.name);
        const State state = state_of(subject);
        const Result<EmittedProgram> program = emitted(subject, state, false);
        CHECK_EQ(program.has_value(), !subject.refused);
        if (!program) continue;
        const std::string wrong = judged(state, *program, 2);
        CHECK_EQ(wrong, "");
        print_line(subject, "fixed", wrong.empty() ? "ok" : wrong);
    }
}

TEST_CASE("gpu: kernels with run-time sizes serve other sizes") {
    for (const Subject& subject : chosen()) {
        if (subject.others.empty()) continue;
        INFO(subject.target, ": ", subject.name);
        const State state = state_of(subject);
        const Result<EmittedProgram> program = emitted(subject, state, true);
        REQUIRE(program.has_value());
        std::string wrong = judged(state, *program, 1);
        for (const Sizes& sizes : subject.others)
            wrong += judged(state_of(subject, sizes), *program, 1);
        CHECK_EQ(wrong, "");
        print_line(subject, "run-time", wrong.empty() ? "ok" : wrong);
    }
}

TEST_CASE("gpu: infinities and NaN follow the reference's conventions") {
    const std::vector<OddCase> cases = {
        {"simt", "attention, window", {"V"}},
        {"simt", "matmul, tiled", {"A", "B"}, true},
        {"sm_80", "attention, causal", {"V"}, false, Spread::Anywhere},
        {"sm_80", "product NN", {"A"}, true, Spread::WhereReached},
        {"sm_80", "product TT", {"B"}, true, Spread::WhereReached}};
    for (const OddCase& odd : cases)
        for (const Subject& subject : chosen()) {
            if (subject.target != odd.target || subject.name != odd.workload) continue;
            INFO(subject.target, ": ", subject.name);
            const State state = state_of(subject);
            const Diagram& diagram = state.diagram;
            const Tensors ordinary = random_inputs(diagram, 5);
            Tensors inputs = ordinary;
            Tensors changed = ordinary;
            make_odd(diagram, odd, {kInfinity, -kInfinity, odd.with_nan ? NAN : 0.0, 0.0}, inputs);
            make_odd(diagram, odd, {8, 9, 10, 11}, changed);
            const Result<EmittedProgram> program = emitted(subject, state, false);
            REQUIRE(program.has_value());
            const Result<Tensors> expected = evaluate_outputs(diagram, inputs);
            const Result<Tensors> untouched = evaluate_outputs(diagram, ordinary);
            const Result<Tensors> reached = evaluate_outputs(diagram, changed);
            REQUIRE(expected.has_value());
            const Result<Execution> execution = execute_cuda(diagram, *program, inputs);
            REQUIRE(execution.has_value());
            std::size_t different = 0;
            std::size_t odd_elements = 0;
            std::size_t ordinary_elements = 0;
            for (const ArrayId output : outputs_of(diagram)) {
                const std::vector<double>& wanted = expected->at(output).values;
                const std::vector<double>& found = execution->outputs.at(output).values;
                for (std::size_t i = 0; i < wanted.size(); ++i) {
                    const bool is_reached =
                        untouched->at(output).values[i] != reached->at(output).values[i];
                    const bool may_spread = odd.spread == Spread::Anywhere ||
                                            (odd.spread == Spread::WhereReached && is_reached);
                    different += agrees(wanted[i], found[i], may_spread) ? 0 : 1;
                    odd_elements += std::isfinite(wanted[i]) ? 0 : 1;
                    ordinary_elements += is_reached ? 0 : 1;
                }
            }
            CHECK_GT(odd_elements, 0);
            CHECK_EQ(different, 0);
            print_line(subject, "odd",
                       std::to_string(odd_elements) + " elements not finite, " +
                           std::to_string(ordinary_elements) + " not reached, " +
                           std::to_string(different) + " different");
        }
}

}  // namespace napkin
