// Formatting a file does not change what it means.
#include <doctest/doctest.h>

#include "diagrams/check.h"

namespace napkin {
namespace {

TEST_CASE("parentheses that set one reduction apart from another survive formatting") {
    const char* const bodies[] = {
        "output S[q] = sum(d) Q[q, d] * (sum(d) Q[q, d])",
        "output S[q] = sum(d) (sum(d) Q[q, d])",
        "output S[q] = (sum(d) Q[q, d]) * sum(d) Q[q, d]",
        "output S[q] = sum(d) Q[q, d] * (1 + (sum(d) Q[q, d]))",
        "output S[q] = sum(d) exp(Q[q, d] - max(d) Q[q, d])",
        "output S[q] = sum(d) (if q > 1 then Q[q, d] * (max(d) Q[q, d]) else 0)",
    };
    for (const char* body : bodies) {
        INFO(body);
        const std::string text =
            std::string("diagram a {\n  axis q = 4, d = 3\n  input Q[q, d] : f32\n  ") + body +
            "\n}\n";
        SourceMap sources;
        const Result<syntax::File> tree = syntax::parse(sources, sources.add("a.ncd", text));
        REQUIRE(tree.has_value());
        const Result<Checked> first = check(sources, *tree);
        REQUIRE(first.has_value());
        const Result<Checked> second = load_diagram(sources, "b.ncd", syntax::print(*tree));
        REQUIRE(second.has_value());
        CHECK(first->diagram == second->diagram);
    }
}

}  // namespace
}  // namespace napkin
