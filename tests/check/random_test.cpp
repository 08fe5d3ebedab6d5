// Properties of the checker on random diagrams.
#include <doctest/doctest.h>

#include "diagrams/check.h"
#include "diagrams/evaluate.h"
#include "tests/support/random_diagram.h"
#include "tests/support/rendered.h"

namespace napkin {
namespace {

TEST_CASE("random diagrams check, verify, and mean the same after formatting") {
    for (std::uint32_t seed = 1; seed <= 400; ++seed) {
        const std::string text = test::random_diagram(seed);
        INFO("seed ", seed, "\n", text);
        SourceMap sources;
        const Result<syntax::File> tree = syntax::parse(sources, sources.add("r.ncd", text));
        REQUIRE(tree.has_value());
        const Result<Checked> checked = check(sources, *tree);
        const std::string errors =
            checked.has_value() ? "" : test::rendered(checked.error(), sources);
        INFO(errors);
        REQUIRE(checked.has_value());
        verify(checked->diagram);
        const Result<Checked> again = load_diagram(sources, "f.ncd", syntax::print(*tree));
        REQUIRE(again.has_value());
        CHECK(checked->diagram == again->diagram);
    }
}

TEST_CASE("random diagrams evaluate without a broken contract") {
    for (std::uint32_t seed = 1; seed <= 150; ++seed) {
        const std::string text = test::random_diagram(seed);
        INFO("seed ", seed, "\n", text);
        SourceMap sources;
        const Result<Checked> checked = load_diagram(sources, "r.ncd", text);
        REQUIRE(checked.has_value());
        const Diagram& diagram = checked->diagram;
        const Result<Tensors> outputs = evaluate_outputs(diagram, random_inputs(diagram, seed));
        REQUIRE(outputs.has_value());
        CHECK_EQ(outputs->size(), outputs_of(diagram).size());
    }
}

}  // namespace
}  // namespace napkin
