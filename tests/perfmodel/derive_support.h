// Diagrams and derivations as texts, for tests of the model.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "derive/state.h"
#include "derive/tile_program.h"
#include "diagrams/check.h"
#include "perfmodel/cost.h"
#include "perfmodel/machine.h"
#include "tests/support/rendered.h"

namespace napkin::test {

/// A diagram after a derivation, both as texts.
inline State derived(const std::string& diagram, const std::string& derivation = "",
                     const Sizes& sizes = {}) {
    SourceMap sources;
    const Result<Checked> checked = load_diagram(sources, "test.ncd", diagram, sizes);
    if (!checked) FAIL(rendered(checked.error(), sources));
    const std::uint32_t file = sources.add("test.drv", derivation);
    const Result<std::vector<Command>> commands = parse_derivation(sources, file);
    if (!commands) FAIL(rendered(commands.error(), sources));
    const Result<State> state = replay(checked->diagram, *commands);
    if (!state) FAIL(rendered(state.error(), sources));
    return *state;
}

inline TileProgram expanded(const State& state) {
    const Result<TileProgram> program = expand(state, OpaqueBoxes::Keep);
    if (!program) FAIL(rendered(program.error(), SourceMap{}));
    return *program;
}

inline Cost cost(const State& state) {
    const Result<Cost> cost = cost_of(expanded(state));
    if (!cost) FAIL(rendered(cost.error(), SourceMap{}));
    return *cost;
}

/// A machine by name, with figures overridden.
inline Machine machine_of(const std::string& text) {
    SourceMap sources;
    const Result<Machine> machine = load_machine(sources, text);
    REQUIRE_MESSAGE(machine.has_value(), text);
    return *machine;
}

}  // namespace napkin::test
