// Published algorithms under examples/published/: every derivation replays from its plain diagram,
// transfers what its README says, as counted, and is proved.
#include <doctest/doctest.h>

#include <string>

#include "derive/proof/proof.h"
#include "diagrams/syntax.h"
#include "tests/golden.h"
#include "tests/perfmodel/counted.h"
#include "tests/support/examples.h"

namespace napkin {
namespace {

/// The formula of H.
std::string transfers_of(const State& state) {
    const Cost cost = test::cost(state);
    const RegionCost& first = cost.regions.front();
    const Amount& moved = cost.transferred.at(Level::Block);
    REQUIRE(moved.ideal.has_value());
    return print(*moved.ideal, first.names, first.order);
}

proof::Proof proof_of(const test::Example& example) {
    SourceMap sources;
    const Result<syntax::File> file = syntax::parse(sources, sources.add("F.ncd", example.diagram));
    REQUIRE(file.has_value());
    const auto commands = parse_derivation(sources, sources.add("D.drv", example.derivation));
    REQUIRE(commands.has_value());
    Result<proof::Proof> proof = proof::prove({sources, *file, *commands, {}}, {});
    REQUIRE(proof.has_value());
    return std::move(proof).value();
}

}  // namespace

TEST_CASE("published algorithms: transfers are those of the README, and every one is proved") {
    const std::string page =
        test::read_text(std::string(NAPKIN_EXAMPLES_DIR) + "/published/README.md");
    const std::vector<test::Example> examples = test::published_examples();
    REQUIRE_EQ(examples.size(), 6);
    for (const test::Example& example : examples) {
        CAPTURE(example.name);
        const State state = test::derived(example.diagram, example.derivation);
        const std::size_t row = page.find("| [`" + example.name + ".drv`]");
        REQUIRE_NE(row, std::string::npos);
        const std::string text = page.substr(row, page.find('\n', row) - row);
        INFO("H is ", transfers_of(state));
        CHECK_NE(text.find("`" + transfers_of(state) + "`"), std::string::npos);
        test::check_counted(example.name, state);
        const proof::Proof proof = proof_of(example);
        for (const std::string& failure : proof.failures()) FAIL_CHECK(failure);
        CHECK_EQ(proof.rungs(), std::vector<std::string>{"0", "1", "2", "3t"});
    }
}

}  // namespace napkin
