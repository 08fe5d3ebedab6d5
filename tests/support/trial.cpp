#include "tests/support/trial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <filesystem>
#include <fstream>
#include <random>
#include <regex>

#include "derive/interpret.h"
#include "derive/proof/certificate.h"
#include "derive/proof/verify.h"
#include "derive/tile_program.h"
#include "diagrams/check.h"
#include "diagrams/compare.h"
#include "diagrams/evaluate.h"
#include "tests/support/planted.h"
#include "tests/support/random_derivation.h"
#include "tests/support/random_diagram.h"
#include "tests/support/random_integers.h"

namespace napkin::test {

namespace {

std::optional<Diagram> diagram_in(const std::string& text) {
    SourceMap sources;
    const Result<Checked> checked = load_diagram(sources, "trial.ncd", text, {});
    if (!checked) return std::nullopt;
    return checked->diagram;
}

std::vector<Command> commands_in(const std::vector<std::string>& lines) {
    std::vector<Command> commands;
    for (const std::string& line : lines) {
        SourceMap sources;
        if (const Result<Command> command = parse_command(sources, sources.add("trial.drv", line)))
            commands.push_back(*command);
    }
    return commands;
}

/// The outputs, with what they are for other numbers in the place of a NaN where these make no
/// difference: algebra may cancel it there, as in `x - x`.
Tensors where_cancelled(const Diagram& plain, const Tensors& inputs, const Tensors& expected) {
    const auto with = [&](double number) {
        Tensors changed = inputs;
        for (auto& [array, tensor] : changed)
            for (double& value : tensor.values)
                if (std::isnan(value)) value = number;
        return evaluate_outputs(plain, changed);
    };
    const Result<Tensors> one = with(0.3);
    const Result<Tensors> other = with(-1.7);
    Tensors result = expected;
    if (!one || !other) return result;
    for (auto& [array, tensor] : result)
        for (std::size_t i = 0; i < tensor.values.size(); ++i) {
            const double a = one->at(array).values[i];
            const double b = other->at(array).values[i];
            const bool same = std::abs(a - b) <= 1e-12 * (1 + std::abs(a));
            if (std::isnan(tensor.values[i]) && same) tensor.values[i] = a;
        }
    return result;
}

/// Whether a fold is of values that a condition chooses: a factor of them that leaves the fold is
/// multiplied by nothing where none is taken, and a NaN shows there (docs/language.md).
bool folds_conditionally(const Diagram& diagram) {
    const auto chooses = [](const Expression& part) {
        const Apply* call = std::get_if<Apply>(&part.node);
        return call != nullptr && call->function == Function::Select;
    };
    return std::any_of(
        diagram.statements.begin(), diagram.statements.end(), [&](const Statement& statement) {
            const Fold* fold = std::get_if<Fold>(&statement.body);
            return fold != nullptr &&
                   std::any_of(fold->values.begin(), fold->values.end(),
                               [&](const Expression& each) { return any_part(each, chooses); });
        });
}

/// Elements in memory order: axes that were split keep every value in its place. Right is either of
/// what is expected; anything is where the plain diagram makes a NaN of its own infinities.
std::optional<std::string> difference(const Diagram& plain, const Tensors& expected,
                                      const Tensors& cancelled, const Diagram& derived,
                                      const Tensors& got, const std::string& what, bool planted) {
    const bool may_show_hidden = planted && folds_conditionally(plain);
    for (const auto& [array, tensor] : expected) {
        const std::string& name = plain[array].name;
        const std::optional<ArrayId> twin = find_array(derived, name);
        if (!twin || got.count(*twin) == 0) return what + " lacks output " + name;
        const std::vector<double>& values = got.at(*twin).values;
        if (values.size() != tensor.values.size())
            return what + " has another number of elements in output " + name;
        const double rounding =
            plain[array].rounds ? 2 * unit_roundoff(plain[array].type) : 0;  // either neighbour
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double want = tensor.values[i];
            if (values[i] == want || (std::isnan(want) && !planted)) continue;
            if (std::isnan(values[i]) && (std::isnan(want) || may_show_hidden)) continue;
            const auto error = [&](double right) {
                return std::abs(values[i] - right) / (1 + std::abs(right));
            };
            const double most = is_floating(plain[array].type) ? rounding + 1e-9 : 0;
            if (!(error(want) <= most) && !(error(cancelled.at(array).values[i]) <= most))
                return what + " computes " + std::to_string(values[i]) + " for element " +
                       std::to_string(i) + " of " + name + ", the plain diagram " +
                       std::to_string(want);
        }
    }
    return std::nullopt;
}

/// Whether a result lies within what rounding allows: where a sum in another order stores another
/// neighbour, what follows from that differs by more than a rounding.
bool within_rounding(const Diagram& plain, const Tensors& inputs, const Diagram& derived,
                     const Tensors& got) {
    if (std::none_of(plain.arrays.begin(), plain.arrays.end(),
                     [](const Array& array) { return array.rounds; }))
        return false;
    Reference reference(plain, inputs, derived, {.arithmetic = ElementType::F64});
    const Tensors results = tensors_in(plain, derived, got);
    const std::vector<ArrayId> outputs = outputs_of(plain);
    return std::all_of(outputs.begin(), outputs.end(), [&](ArrayId array) {
        return results.contains(array) && compare(reference, array, results.at(array)).ok;
    });
}

Tensors inputs_for(const Diagram& derived, const Diagram& plain, const Tensors& inputs) {
    Tensors result;
    for (const auto& [array, tensor] : inputs) {
        const ArrayId twin = find_array(derived, plain[array].name).value();
        result[twin] = make_tensor(derived, twin);
        result[twin].values = tensor.values;
    }
    return result;
}

/// Of one trial in four, which streams seldom: what a stream cancels, `x - x`, is 0 of a NaN too.
bool has_nan(std::uint64_t seed) {
    return seed % 4 == 3;
}

std::optional<std::string> failure_of_state(const Diagram& plain, const State& state,
                                            std::uint64_t seed) {
    const bool integers = has_integers_alone(plain);
    Tensors inputs = integers ? wide_integers(plain, seed) : random_inputs(plain, seed);
    const bool planted = has_nan(seed) && plant_nan(plain, seed, inputs);
    const Result<Tensors> expected = evaluate_outputs(plain, inputs);
    if (!expected) return std::nullopt;  // no diagram that can be tried
    const Tensors cancelled = planted ? where_cancelled(plain, inputs, *expected) : *expected;
    const Tensors renamed = inputs_for(state.diagram, plain, inputs);
    const Result<Tensors> rewritten = evaluate_outputs(state.diagram, renamed);
    if (!rewritten) return "the derived diagram breaks a contract";
    if (auto wrong = difference(plain, *expected, cancelled, state.diagram, *rewritten,
                                "the derived diagram", planted);
        wrong && !within_rounding(plain, inputs, state.diagram, *rewritten))
        return wrong;
    const Result<TileProgram> program = expand(state);
    if (!program) return "the state does not expand";
    const Result<Interpretation> result = interpret(state.diagram, *program, renamed);
    if (!result) return "the tile program breaks a contract";
    const auto wrong_in = [&](const Tensors& outputs, const std::string& what) {
        auto wrong = difference(plain, *expected, cancelled, state.diagram, outputs, what, planted);
        if (wrong && within_rounding(plain, inputs, state.diagram, outputs)) wrong.reset();
        return wrong;
    };
    if (auto wrong = wrong_in(result->outputs, "the tile program")) return wrong;
    if (integers) {
        const Result<Interpretation> stored =
            interpret(state.diagram, *program, renamed, Arithmetic::Storage);
        if (!stored) return "the tile program breaks a contract where tiles have their types";
        if (auto wrong = wrong_in(stored->outputs, "in the types of its tiles, the program"))
            return wrong;
    }
    // What is no number reaches a result through elements that are multiplied by nothing, too.
    if (!has_nan(seed) && has_data_masks(*program)) {
        const Result<Interpretation> shorter =
            interpret(state.diagram, *program, renamed, Arithmetic::Exact, MaskedChunks::LeaveOut);
        if (!shorter) return "the tile program breaks a contract where chunks are left out";
        if (auto wrong = wrong_in(shorter->outputs, "leaving out chunks of nothing")) return wrong;
        if (shorter->counters != result->counters) return "chunks that are left out do not count";
    }
    if (result->written_twice != 0) return "an element is written twice";
    if (result->never_written != 0) return "an element is never written";
    if (count(*program) != result->counters) return "counting without values counts otherwise";
    return std::nullopt;
}

/// Whether rung 2 says that it cannot tell, and not that something is wrong.
bool leaves_open(const std::string& failure) {
    constexpr std::array kReasons = {"nothing is visible anywhere",
                                     "roots were taken of numbers that have none",
                                     "congruence alone is known"};
    return std::any_of(kReasons.begin(), kReasons.end(), [&](const char* reason) {
        return failure.find(reason) != std::string::npos;
    });
}

/// The derivation as a user would have it proved: at the sizes that it has, or, one time in four,
/// at sizes that the proof chooses.
std::optional<std::string> failure_of_proof(const Trial& trial, const Diagram& plain,
                                            const State& state, Depth depth, Coverage* coverage) {
    SourceMap sources;
    const Result<syntax::File> file =
        syntax::parse(sources, sources.add("trial.ncd", trial.diagram));
    proof::Subject subject{sources, *file, {}, {}};
    for (const Step& step : state.steps) subject.commands.push_back(step.command);
    if (trial.seed % 4 != 0) subject.fixed = proof::own_sizes(plain);
    const Result<proof::Proof> proof = proof::prove(subject, {3, trial.seed});
    if (!proof) {
        if (subject.fixed.empty()) return std::nullopt;  // it applies at no smaller sizes
        return "the derivation does not replay: " + proof.error().list.front().message;
    }
    if (coverage != nullptr) coverage->note(*proof);
    for (const std::string& failure : proof->failures())
        if (!leaves_open(failure)) return "not proved: " + failure;
    if (depth != Depth::Verify || !proof->ok()) return std::nullopt;
    const Result<proof::Verification> verification =
        proof::verify_certificate(proof::certificate_text(*proof));
    if (!verification) return "the certificate cannot be read";
    if (!verification->ok()) return "the certificate: " + verification->failures.front();
    if (coverage != nullptr) ++coverage->verified;
    return std::nullopt;
}

/// The text without line `index`, which may not be the first or the last.
std::string without_line(const std::string& text, std::size_t index) {
    std::string result;
    std::size_t at = 0;
    for (std::size_t line = 0; at < text.size(); ++line) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        if (line != index) result += text.substr(at, end - at);
        at = end;
    }
    return result;
}

/// Texts one change smaller.
std::vector<std::string> smaller_texts(const std::string& text) {
    std::vector<std::string> texts;
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    for (std::size_t line = lines; line-- > 0;) texts.push_back(without_line(text, line));
    const std::regex size("= ([0-9]+)([,\n ])");
    for (std::sregex_iterator at(text.begin(), text.end(), size), end; at != end; ++at) {
        const long value = std::stol((*at)[1]);
        for (const long less : {1L, value / 2, value - 1})
            if (less >= 1 && less < value)
                texts.push_back(at->prefix().str() + "= " + std::to_string(less) + (*at)[2].str() +
                                at->suffix().str());
    }
    return texts;
}

}  // namespace

Trial random_trial(std::uint32_t seed, int steps, const std::optional<std::string>& diagram) {
    Trial trial{diagram ? *diagram : random_diagram(seed), {}, seed};
    const std::optional<Diagram> plain = diagram_in(trial.diagram);
    if (!plain) return trial;
    std::mt19937_64 random(seed + 1);
    State state = initial_state(*plain);
    const Commands commands = has_nan(seed) ? Commands::Any : Commands::AlongTheWay;
    for (int i = 0; i < steps; ++i) {
        const Command command = random_command(state, random, commands);
        trial.steps.push_back(print(command));
        try {
            Outcome outcome = apply(state, command);
            if (State* next = std::get_if<State>(&outcome)) state = std::move(*next);
        } catch (const std::exception&) {
            break;  // `failure_of` will say so
        }
    }
    return trial;
}

std::optional<std::string> failure_of(const Trial& trial, Depth depth, Coverage* coverage) {
    std::string doing = "checking the diagram";
    try {
        const std::optional<Diagram> plain = diagram_in(trial.diagram);
        if (!plain) return std::nullopt;  // what made a failed one smaller went too far
        if (coverage != nullptr) coverage->note(*plain);
        State state = initial_state(*plain);
        for (const Command& command : commands_in(trial.steps)) {
            doing = "`" + print(command) + "`";
            Outcome outcome = apply(state, command);
            State* next = std::get_if<State>(&outcome);
            if (coverage != nullptr) coverage->note(state, command, next != nullptr);
            if (next != nullptr) state = std::move(*next);
        }
        doing = "the derived state";
        if (coverage != nullptr) coverage->note(state);
        if (auto wrong = failure_of_state(*plain, state, trial.seed)) return wrong;
        if (coverage != nullptr) ++coverage->executed;
        doing = "the proof";
        return depth == Depth::Execute ? std::nullopt
                                       : failure_of_proof(trial, *plain, state, depth, coverage);
    } catch (const std::exception& exception) {
        return doing + " throws: " + exception.what();
    }
}

Trial smaller(Trial trial, const std::function<bool(const Trial&)>& fails) {
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = trial.steps.size(); i-- > 0;) {
            Trial fewer = trial;
            fewer.steps.erase(fewer.steps.begin() + static_cast<std::ptrdiff_t>(i));
            if (!fails(fewer)) continue;
            trial = std::move(fewer);
            changed = true;
        }
        for (const std::string& text : smaller_texts(trial.diagram)) {
            Trial less = trial;
            less.diagram = text;
            if (!fails(less)) continue;
            trial = std::move(less);
            changed = true;
            break;
        }
    }
    return trial;
}

std::string report_failure(const Trial& trial, Depth depth) {
    const Trial least =
        smaller(trial, [&](const Trial& tried) { return failure_of(tried, depth).has_value(); });
    const std::filesystem::path folder = std::filesystem::temp_directory_path();
    const std::string stem = "napkin-trial-" + std::to_string(trial.seed);
    std::string steps;
    for (const std::string& step : least.steps) steps += step + "\n";
    std::ofstream(folder / (stem + ".ncd"), std::ios::binary) << least.diagram;
    std::ofstream(folder / (stem + ".drv"), std::ios::binary) << steps;
    return failure_of(least, depth).value_or("it does not fail any more") + "\n" + least.diagram +
           "\n" + steps + "written to " + (folder / stem).string() + ".ncd and .drv, input seed " +
           std::to_string(least.seed) + "\n";
}

}  // namespace napkin::test
