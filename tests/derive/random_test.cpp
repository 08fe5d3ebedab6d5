// What a failing trial of a random derivation leaves behind: the smallest one that fails. The
// trials themselves are tests/trials.
#include <doctest/doctest.h>

#include "tests/support/trial.h"
#include "tests/support/trial_diagrams.h"

namespace napkin::test {

TEST_CASE("a failing trial becomes smaller") {
    // As if a split after a fusion were wrong wherever something is summed.
    const auto fails = [](const Trial& trial) {
        Coverage coverage;
        if (failure_of(trial, Depth::Execute, &coverage)) return false;
        return coverage.applied["fuse"] > 0 && coverage.applied["split-axis"] > 0 &&
               coverage.folded["sum"] > 0;
    };
    const Trial trial{kTrialDiagrams[0],
                      {"group n by 3 in N", "fuse all", "split-axis d as r by 3", "unfuse Y"},
                      3};
    REQUIRE(fails(trial));
    const Trial least = smaller(trial, fails);
    CHECK_EQ(least.steps, std::vector<std::string>{"fuse all", "split-axis d as r by 3"});
    CHECK_NE(least.diagram, trial.diagram);
    CHECK(fails(least));
}

}  // namespace napkin::test
