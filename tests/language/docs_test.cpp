// The examples of docs/language.md: complete files are checked, single lines are read.
#include <doctest/doctest.h>

#include <sstream>

#include "diagrams/check.h"
#include "diagrams/syntax.h"
#include "tests/golden.h"
#include "tests/support/rendered.h"

namespace napkin {
namespace {

struct Example {
    bool complete = false;
    std::string text;
};

std::vector<Example> examples_of(const std::string& page) {
    std::vector<Example> list;
    std::istringstream lines(page);
    std::string line;
    bool inside = false;
    while (std::getline(lines, line)) {
        if (!inside && line.starts_with("```ncd")) {
            inside = true;
            list.push_back({line == "```ncd", ""});
        } else if (line == "```") {
            inside = false;
        } else if (inside) {
            list.back().text += line + "\n";
        }
    }
    return list;
}

TEST_CASE("the examples of the language page are diagrams") {
    const std::filesystem::path page =
        std::filesystem::path(NAPKIN_EXAMPLES_DIR) / "../docs/language.md";
    const std::vector<Example> examples = examples_of(test::read_text(page));
    CHECK_GT(examples.size(), 15);
    for (const Example& example : examples) {
        INFO(example.text);
        SourceMap sources;
        if (example.complete) {
            const Result<Checked> checked = load_diagram(sources, "example.ncd", example.text);
            INFO((checked ? std::string() : test::rendered(checked.error(), sources)));
            REQUIRE(checked.has_value());
            INFO(test::rendered(checked->warnings, sources));
            CHECK(checked->warnings.list.empty());
        } else {
            const std::uint32_t file =
                sources.add("example.ncd", "diagram example {\n" + example.text + "}\n");
            const Result<syntax::File> tree = syntax::parse(sources, file);
            INFO((tree ? std::string() : test::rendered(tree.error(), sources)));
            CHECK(tree.has_value());
        }
    }
}

}  // namespace
}  // namespace napkin
