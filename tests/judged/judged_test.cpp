// The model against recorded measurements: the table is recomputed from the files.
#include <doctest/doctest.h>

#include "tests/golden.h"
#include "tests/judged/judge.h"

namespace napkin {
namespace {

TEST_CASE("times of an H200 beside the recorded ones") {
    SourceMap sources;
    const Result<Machine> machine = load_machine(sources, "H200");
    REQUIRE(machine.has_value());
    const test::Records records = test::recorded_on("h200");
    REQUIRE_GT(records.rows.size(), 60);
    test::check_golden("perfmodel/judged-h200.md", test::table(records, *machine));
}

}  // namespace
}  // namespace napkin
