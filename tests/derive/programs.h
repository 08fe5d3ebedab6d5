// Diagrams from text and derivations from commands, for tests.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "derive/interpret.h"
#include "derive/state.h"
#include "derive/tile_program.h"
#include "diagrams/check.h"
#include "diagrams/evaluate.h"
#include "tests/support/rendered.h"

namespace napkin::test {

/// Checks a text; the test fails with the rendered messages where it is wrong.
inline Diagram load(const std::string& text, const Sizes& sizes = {}) {
    SourceMap sources;
    const Result<Checked> checked = load_diagram(sources, "test.ncd", text, sizes);
    if (!checked) FAIL(rendered(checked.error(), sources));
    return checked->diagram;
}

inline std::vector<Command> commands(const std::string& text) {
    SourceMap sources;
    const std::uint32_t file = sources.add("test.drv", text);
    const Result<std::vector<Command>> parsed = parse_derivation(sources, file);
    if (!parsed) FAIL(rendered(parsed.error(), sources));
    return *parsed;
}

/// Replays a derivation that must apply.
inline State derive(const Diagram& diagram, const std::string& text) {
    SourceMap sources;
    sources.add("test.drv", text);
    const Result<State> state = replay(diagram, commands(text));
    if (!state) FAIL(rendered(state.error(), sources));
    return *state;
}

/// The reason why the last command of a derivation does not apply.
inline std::string refusal(const Diagram& diagram, const std::string& text) {
    State state = initial_state(diagram);
    const std::vector<Command> steps = commands(text);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        Outcome outcome = apply(state, steps[i]);
        if (const NotApplicable* reason = std::get_if<NotApplicable>(&outcome)) {
            CHECK_EQ(i + 1, steps.size());
            return reason->reason + (reason->help.empty() ? "" : "; " + reason->help);
        }
        state = std::get<State>(outcome);
    }
    return "applied";
}

/// A rewritten diagram computes what the one it came from did, from the same inputs: element by
/// element in memory order, since a split axis changes shapes and not places. Sums come in another
/// order, so values are compared within rounding.
inline void check_same_meaning(const Diagram& plain, const State& state, std::uint64_t seed = 1,
                               double scale = 1.0) {
    const Tensors inputs = random_inputs(plain, seed, scale);
    Tensors renamed;
    for (const auto& [array, tensor] : inputs) {
        const ArrayId twin = find_array(state.diagram, plain[array].name).value();
        renamed[twin] = make_tensor(state.diagram, twin);
        REQUIRE_EQ(renamed[twin].values.size(), tensor.values.size());
        renamed[twin].values = tensor.values;
    }
    const Result<Tensors> expected = evaluate_outputs(plain, inputs);
    const Result<Tensors> got = evaluate_outputs(state.diagram, renamed);
    REQUIRE(expected.has_value());
    if (!got) FAIL(rendered(got.error(), {}));
    REQUIRE_EQ(got->size(), expected->size());
    for (const auto& [array, tensor] : *expected) {
        const ArrayId twin = find_array(state.diagram, plain[array].name).value();
        const std::vector<double>& values = got->at(twin).values;
        REQUIRE_EQ(values.size(), tensor.values.size());
        double worst = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double want = tensor.values[i];
            const double error =
                values[i] == want ? 0 : std::abs(values[i] - want) / (1 + std::abs(want));
            worst = error > worst || std::isnan(error) ? error : worst;
        }
        INFO("output ", plain[array].name, " of\n", print(state.diagram));
        CHECK(worst <= (plain[array].rounds ? 2 * unit_roundoff(plain[array].type) : 0) + 1e-9);
    }
}

inline TileProgram program_of(const State& state) {
    const Result<TileProgram> program = expand(state);
    if (!program) FAIL(rendered(program.error(), {}));
    return *program;
}

/// Interprets a state on random inputs and compares every output with the reference; returns the
/// counters.
inline std::vector<Counters> check_against_reference(const State& state, std::uint64_t seed = 1,
                                                     double scale = 1.0) {
    const Tensors inputs = random_inputs(state.diagram, seed, scale);
    const Result<Tensors> expected = evaluate_outputs(state.diagram, inputs);
    if (!expected) FAIL(rendered(expected.error(), {}));
    const TileProgram program = program_of(state);
    const Result<Interpretation> result = interpret(state.diagram, program, inputs);
    if (!result) FAIL(rendered(result.error(), {}));
    CHECK_EQ(result->written_twice, 0);
    CHECK_EQ(result->never_written, 0);
    for (const auto& [array, tensor] : *expected) {
        const Tensor& got = result->outputs.at(array);
        REQUIRE_EQ(got.values.size(), tensor.values.size());
        double worst = 0;
        for (std::size_t i = 0; i < tensor.values.size(); ++i) {
            const double want = tensor.values[i];
            const bool same = got.values[i] == want;
            const double error = same ? 0 : std::abs(got.values[i] - want) / (1 + std::abs(want));
            worst = error > worst || std::isnan(error) ? error : worst;
        }
        INFO("output ", state.diagram[array].name, " of\n", print(program, {}));
        // Rounding outputs to bf16 may land on either neighbour.
        CHECK(worst <=
              (state.diagram[array].rounds ? 2 * unit_roundoff(state.diagram[array].type) : 0) +
                  1e-9);
    }
    CHECK(count(program) == result->counters);
    return result->counters;
}

}  // namespace napkin::test
