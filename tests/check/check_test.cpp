// Checked diagrams of whole files, as text.
#include "diagrams/check.h"

#include <doctest/doctest.h>

#include "tests/golden.h"

namespace napkin {

TEST_CASE("the attention example checks to five primitive statements") {
    SourceMap sources;
    const Result<Checked> checked =
        load_diagram(sources, "attention.ncd",
                     test::read_text(std::filesystem::path(NAPKIN_EXAMPLES_DIR) / "attention.ncd"));
    REQUIRE(checked.has_value());
    CHECK(checked->warnings.list.empty());
    verify(checked->diagram);
    test::check_golden("check/attention.txt", print(checked->diagram));
}

}  // namespace napkin
