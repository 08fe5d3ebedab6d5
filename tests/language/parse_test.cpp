#include <doctest/doctest.h>

#include "diagrams/syntax.h"
#include "tests/golden.h"

namespace napkin {
namespace {

TEST_CASE("the example parses") {
    SourceMap sources;
    const std::uint32_t file =
        sources.add("attention.ncd",
                    test::read_text(std::filesystem::path(NAPKIN_EXAMPLES_DIR) / "attention.ncd"));
    const Result<syntax::File> tree = syntax::parse(sources, file);
    REQUIRE(tree);
    CHECK_EQ(tree->diagram->text, "attention");
    REQUIRE_EQ(tree->lines.size(), 6);
    const auto& inputs = std::get<syntax::InputLine>(tree->lines[1].body);
    REQUIRE_EQ(inputs.arrays.size(), 3);
    CHECK_EQ(inputs.arrays[0].type, ElementType::BF16);
    const auto& scores = std::get<syntax::StatementLine>(tree->lines[2].body);
    CHECK(std::holds_alternative<syntax::Reduction>(scores.value.node));
    CHECK_EQ(tree->lines[5].comment_after, "# every array gets a batch and heads");
}

}  // namespace
}  // namespace napkin
