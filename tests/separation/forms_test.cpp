// Every form that must stream: derived with no case written for any of them, run as a tile program
// at ragged sizes against the reference, with large inputs too where the form claims safety.
#include <algorithm>
#include <cmath>

#include "derive/accumulator_text.h"
#include "diagrams/compare.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"
#include "tests/support/forms.h"

namespace napkin::test {
namespace {

constexpr double kMostError = 1e-10;
constexpr double kFall = 64;  ///< e-folds along an axis

Tensors inputs_of(const Diagram& diagram, const Form& form, std::uint64_t seed, bool changed) {
    Tensors inputs = random_inputs(diagram, seed);
    if (!changed) return inputs;
    for (const Change& change : form.changes) {
        const ArrayId id = find_array(diagram, change.input).value();
        const auto last = static_cast<std::size_t>(diagram[diagram[id].axes.back()].extent);
        std::vector<double>& values = inputs.at(id).values;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double along = static_cast<double>(i % last) / static_cast<double>(last);
            const double shift = change.offset + change.fall * std::exp(-kFall * along);
            values[i] = round_to(diagram[id].type, values[i] * change.factor + shift);
        }
    }
    return inputs;
}

/// Values of arrays of one diagram as those of another with the same names.
Tensors renamed(const Diagram& from, const Diagram& to, const Tensors& tensors) {
    Tensors result;
    for (const auto& [id, tensor] : tensors)
        if (const std::optional<ArrayId> there = find_array(to, from[id].name))
            result[*there] = tensor;
    return result;
}

/// The largest error of any output relative to the largest value of that output; where all of an
/// output cancels to zero, absolutely.
double worst_error(const Tensors& expected, const Tensors& got) {
    double worst = 0;
    for (const auto& [array, tensor] : got) {
        const Tensor& want = expected.at(array);
        double largest = 1e-3;
        for (const double value : want.values)
            if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
        for (std::size_t i = 0; i < want.values.size(); ++i) {
            if (tensor.values[i] == want.values[i]) continue;
            const double error = std::abs(tensor.values[i] - want.values[i]) / largest;
            worst = std::isnan(error) ? INFINITY : std::max(worst, error);
        }
    }
    return worst;
}

/// What is wrong with the form, run at one size of chunks; empty where nothing is.
std::string faults(const Form& form, const Form& like, std::int64_t size) {
    const Diagram reference = load(like.text);
    const auto derived = state_of(load(form.text), commands_of(form, size));
    if (const std::string* refused = std::get_if<std::string>(&derived)) return *refused;
    const State& state = std::get<State>(derived);
    const Diagram& diagram = state.diagram;
    const TileProgram program = program_of(state);
    std::string text;
    for (const bool changed : {false, true}) {
        if (changed && form.changes.empty()) continue;
        for (std::uint64_t seed = 1; seed <= 2; ++seed) {
            const Tensors inputs = inputs_of(diagram, form, seed, changed);
            const Tensors there = renamed(diagram, reference, inputs);
            const Tensors expected =
                renamed(reference, diagram, evaluate_outputs(reference, there).value());
            const std::string where = std::string(changed ? ", changed inputs" : "") + ", seed " +
                                      std::to_string(seed) + ", chunks of " + std::to_string(size);
            const Result<Interpretation> exact = interpret(diagram, program, inputs);
            REQUIRE(exact.has_value());
            const double error = worst_error(expected, exact->outputs);
            if (!(error < kMostError)) text += "error " + std::to_string(error) + where + "\n";
            if (exact->written_twice + exact->never_written != 0) text += "not written once\n";
            const Result<Interpretation> rounded =
                interpret(diagram, program, inputs, Arithmetic::Storage);
            Reference judge(reference, there, precision_of(reference, {}));
            for (const auto& [array, tensor] : renamed(diagram, reference, rounded->outputs)) {
                const Comparison comparison = compare(judge, array, tensor);
                if (!comparison.ok) text += "f32: " + describe(comparison) + where + "\n";
            }
        }
    }
    return text;
}

}  // namespace

TEST_CASE("forms: every form streams and agrees with the reference") {
    const std::vector<Form> forms = all_forms();
    for (const Form& form : forms) {
        const auto like = std::find_if(forms.begin(), forms.end(), [&](const Form& each) {
            return each.name == (form.like.empty() ? form.name : form.like);
        });
        REQUIRE(like != forms.end());
        std::string found;
        for (const std::int64_t size : {1, 4, 7, 64})
            if (found.empty()) found = faults(form, *like, size);
        INFO(form.name, ": ", found);
        CHECK(found.empty());
    }
}

TEST_CASE("forms: their accumulators") {
    for (const Form& form : all_forms()) {
        const Diagram diagram = load(form.text);
        const auto derived = state_of(diagram, commands_of(form, 4));
        std::string text;
        if (const State* state = std::get_if<State>(&derived)) {
            for (const RegionProgram& region : program_of(*state).regions)
                if (region.accumulator) text += explain(state->diagram, *region.accumulator);
        } else {
            text = std::get<std::string>(derived) + "\n";
        }
        check_golden("separation/forms/" + form.name + ".txt", text);
    }
}

}  // namespace napkin::test
