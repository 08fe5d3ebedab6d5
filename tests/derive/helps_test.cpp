// A refusal that tells a command to give first gives one that applies.
#include <doctest/doctest.h>

#include <map>
#include <random>
#include <regex>

#include "derive/state.h"
#include "diagrams/check.h"
#include "tests/support/random_derivation.h"
#include "tests/support/random_diagram.h"

namespace napkin::test {
namespace {

/// The command between backticks before "first", if a help tells one.
std::optional<Command> told_first(const std::string& help) {
    std::smatch told;
    if (!std::regex_search(help, told, std::regex("`([a-z-]+ [^`]*)` first"))) return std::nullopt;
    SourceMap sources;
    const Result<Command> command = parse_command(sources, sources.add("help", told[1]));
    REQUIRE(command.has_value());
    return *command;
}

}  // namespace

TEST_CASE("what a refusal tells to do first applies, over random derivations") {
    std::mt19937_64 random(7);
    std::map<std::string, int> told;
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        const std::string text = random_diagram(seed);
        INFO(text);
        SourceMap sources;
        const Result<Checked> checked = load_diagram(sources, "random.ncd", text);
        REQUIRE(checked.has_value());
        const State state = random_derivation(checked->diagram, random, 8);
        INFO(steps_text(state));
        for (int i = 0; i < 40; ++i) {
            const Command command = random_command(state, random);
            const Outcome outcome = apply(state, command);
            const NotApplicable* refusal = std::get_if<NotApplicable>(&outcome);
            if (refusal == nullptr) continue;
            const std::optional<Command> first = told_first(refusal->help);
            if (!first) continue;
            INFO(print(command), ": ", refusal->help);
            ++told[first->rule];
            CHECK(std::holds_alternative<State>(apply(state, *first)));
        }
    }
    for (const char* rule : {"ungroup", "unstream"}) CHECK_GT(told[rule], 20);
}

}  // namespace napkin::test
