// Rung 3t: the tile program in double against the plain diagram.
//
// Two references stand beside each other. The evaluator's, in double, has tolerances from running
// error analysis; the plain diagram in numbers of wide range says where that reference can be
// trusted: where the diagram's own form overflows or underflows, nothing is judged.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>

#include "derive/interpret.h"
#include "derive/interpret/tile_machine.h"
#include "derive/proof/evaluate_plain.h"
#include "derive/proof/extended_domain.h"
#include "derive/proof/kept_integers.h"
#include "derive/proof/prove_program.h"
#include "derive/proof/renamed_grids.h"
#include "diagrams/compare.h"
#include "diagrams/infinity.h"

namespace napkin::proof {
namespace {

// A derivation may rearrange sums so that products of inputs cancel; what that costs in double is
// allowed beside the reference's own tolerance, as a part of the size of such products.
constexpr double kCancellation = 0x1p-42;

template <class Value>
Grids<Value> grids_of(const Tensors& tensors) {
    Grids<Value> grids;
    for (const auto& [id, tensor] : tensors) {
        Grid<Value>& grid = grids[id];
        grid.extents = tensor.extents;
        for (const double value : tensor.values) grid.values.emplace_back(value);
    }
    return grids;
}

/// Both numbers in as many digits as tell them apart.
std::string difference_text(double got, double expected) {
    const auto written = [](double value, int digits) {
        std::ostringstream text;
        text << std::setprecision(digits) << value;
        return text.str();
    };
    int digits = 6;
    while (digits < std::numeric_limits<double>::max_digits10 &&
           written(got, digits) == written(expected, digits))
        ++digits;
    return written(got, digits) + " instead of " + written(expected, digits);
}

void judge(Execution& execution, double got, double expected, const WideReal& wide,
           double tolerance, ElementType type, const std::string& name) {
    tolerance += kCancellation * execution.scale * execution.scale;
    // What is allowed may lie beyond the largest number of the output's type.
    if (std::isinf(round_to(type, std::abs(expected) + tolerance)) && std::isfinite(expected))
        tolerance = kInfinity;
    const long double exact = wide.value();
    const bool overflown = std::isinf(expected) && !wide.is_infinite();
    const bool same = !overflown && expected == static_cast<double>(exact);
    const bool reached = same || std::abs(static_cast<long double>(expected) - exact) <= tolerance;
    if (!reached || std::isinf(tolerance) || std::isnan(tolerance)) {
        ++execution.unreached;
        return;
    }
    ++execution.compared;
    if (got == expected || std::abs(got - expected) <= tolerance) return;
    if (execution.failed++ == 0) execution.first = name + " is " + difference_text(got, expected);
}

/// What the plain diagram's outputs are.
struct Expected {
    const Diagram& plain;
    Grids<WideReal> exact;
    std::map<ArrayId, Reference::Elements> elements;

    Expected(const Diagram& diagram, const Tensors& inputs) : plain(diagram) {
        ExtendedDomain extended;
        exact = PlainEvaluator<ExtendedDomain>(extended, plain, grids_of<WideReal>(inputs)).run();
        Precision precision;
        precision.arithmetic = ElementType::F64;
        Reference reference(plain, inputs, precision);
        for (const ArrayId output : outputs_of(plain)) {
            std::vector<std::int64_t> offsets(exact.at(output).values.size());
            std::iota(offsets.begin(), offsets.end(), 0);
            elements[output] = reference.elements(output, offsets);
        }
    }
};

void judge_output(const Expected& all, ArrayId output, const Diagram& derived,
                  const Run<double>& made, Execution& execution) {
    const Array& plain = all.plain[output];
    const Grid<WideReal>& values = all.exact.at(output);
    const Reference::Elements& expected = all.elements.at(output);
    const ElementType type = plain.rounds ? plain.type : ElementType::F64;
    const std::optional<ArrayId> array = find_array(derived, plain.name);
    const auto got = array ? made.device.values.find(*array) : made.device.values.end();
    for (std::size_t at = 0; at < values.values.size(); ++at)
        judge(execution,
              got == made.device.values.end() || at >= got->second.values.size()
                  ? RealDomain::poison()
                  : got->second.values[at],
              expected.values[at], values.values[at], expected.tolerances[at], type,
              element_name(plain.name, values.extents, at));
}

Execution execute_one(const Expected& expected, const DerivedProgram& derived,
                      const Tensors& inputs, double scale) {
    const auto& [diagram, program] = derived;
    Execution execution;
    execution.scale = scale;
    RealDomain reals;
    Run<double> run;
    Run<double> shorter;  // where masks of data leave chunks out
    const bool masked = has_data_masks(program);
    try {
        const Grids<double> grids =
            renamed_grids(diagram, expected.plain, grids_of<double>(inputs));
        run = run_program(reals, diagram, program, grids);
        if (masked) shorter = run_program(reals, diagram, program, grids, MaskedChunks::LeaveOut);
    } catch (const std::logic_error& broken) {
        execution.first = broken.what();
        return execution;
    }
    if (run.counters != count(program))
        execution.first = "counted transfers differ from executed ones";
    if (const auto array = integers_in_reals(expected.plain, program))
        execution.first = "`" + *array + "` is made of integers, and computed as real numbers";
    const WritesAmiss amiss = writes_amiss(run.device.writes);
    execution.written_twice = amiss.twice;
    execution.never_written = amiss.never;
    for (const ArrayId output : outputs_of(expected.plain)) {
        judge_output(expected, output, diagram, run, execution);
        if (!masked || execution.failed != 0) continue;
        Execution left_out;
        left_out.scale = scale;
        judge_output(expected, output, diagram, shorter, left_out);
        execution.failed = left_out.failed;
        if (execution.first.empty() && left_out.failed != 0)
            execution.first = left_out.first + " where chunks of nothing are left out";
    }
    return execution;
}

}  // namespace

std::vector<Execution> execute(const Diagram& plain, std::span<const DerivedProgram> programs,
                               std::uint64_t seed, double scale) {
    const Tensors inputs = random_inputs(plain, seed, scale);
    const Expected expected(plain, inputs);
    std::vector<Execution> executions;
    for (const DerivedProgram& each : programs)
        executions.push_back(execute_one(expected, each, inputs, scale));
    return executions;
}

}  // namespace napkin::proof
