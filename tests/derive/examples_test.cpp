// Every derivation under examples/ at small ragged sizes, with its tile sizes and with sixteenths
// of them: it computes what the reference says, and counting without values gives the same
// counters.
#include <algorithm>

#include "tests/derive/programs.h"
#include "tests/support/derivations.h"

namespace napkin::test {

TEST_CASE("every example's derivation") {
    const std::vector<ExampleDerivation> examples = example_derivations();
    REQUIRE(examples.size() > 20);
    for (const ExampleDerivation& example : examples) {
        INFO(example.name);
        std::vector<Command> steps = example.commands;
        for (std::int64_t shrink : {1, 16}) {
            for (Command& step : steps)
                if (step.size) step.size = std::max<std::int64_t>(1, *step.size / shrink);
            const Result<State> state = replay(example.diagram, steps);
            REQUIRE(state.has_value());
            check_against_reference(*state);
        }
    }
}

}  // namespace napkin::test
