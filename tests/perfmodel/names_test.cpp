// Nothing depends on names: every example derived, expanded and costed under names that formulas,
// rules and C++ have for something else.
#include <doctest/doctest.h>

#include "tests/perfmodel/counted.h"
#include "tests/support/derivations.h"
#include "tests/support/renamed.h"

namespace napkin {
namespace {

State derived_as(const Diagram& diagram, const std::vector<Command>& commands) {
    const Result<State> state = replay(diagram, commands);
    if (!state) FAIL(test::rendered(state.error(), SourceMap{}));
    return *state;
}

void check_same(const Amount& renamed, const Amount& plain) {
    CHECK_EQ(renamed.values, plain.values);
    CHECK_EQ(renamed.bits, plain.bits);
    CHECK(renamed.formula == plain.formula);
    CHECK(renamed.ideal == plain.ideal);
}

void check_same(const Cost& renamed, const Cost& plain) {
    REQUIRE_EQ(renamed.regions.size(), plain.regions.size());
    for (std::size_t i = 0; i < plain.regions.size(); ++i) {
        for (const auto& [level, cost] : plain.regions[i].levels) {
            const LevelCost& other = renamed.regions[i].levels.at(level);
            check_same(other.transferred, cost.transferred);
            check_same(other.memory, cost.memory);
            check_same(other.allocated, cost.allocated);
        }
        CHECK_EQ(renamed.regions[i].arithmetic.operations, plain.regions[i].arithmetic.operations);
        CHECK_EQ(renamed.regions[i].blocks, plain.regions[i].blocks);
        CHECK_EQ(renamed.regions[i].chunks_visited, plain.regions[i].chunks_visited);
    }
}

}  // namespace

TEST_CASE("names change neither derivations nor programs nor costs") {
    for (const test::ExampleDerivation& example : test::example_derivations()) {
        const State plain = derived_as(example.diagram, example.commands);
        const TileProgram program = test::expanded(plain);
        const Cost cost = test::cost(plain);
        for (const std::size_t first : {0U, 9U, 20U}) {
            const test::Renaming renamed(example.diagram, example.commands, test::hard_axis_names(),
                                         test::hard_array_names(), first);
            INFO(example.name, ", names from ", first);
            const State other = derived_as(renamed(example.diagram), renamed(example.commands));
            CHECK(other.relabelling == plain.relabelling);
            CHECK(test::nameless(test::expanded(other)) == test::nameless(program));
            check_same(test::cost(other), cost);
            test::check_counted(example.name, other);
        }
    }
}

}  // namespace napkin
