// What the reasons of a step say of arrays that are saved and loaded holds of both diagrams.
#include "cli/reasons.h"

#include <doctest/doctest.h>

#include <random>
#include <regex>

#include "cli/picture.h"
#include "diagrams/check.h"
#include "perfmodel/cost.h"
#include "tests/support/random_derivation.h"
#include "tests/support/random_diagram.h"

namespace napkin::test {
namespace {

/// Whether one region computes an array of that name and another reads it.
bool goes_between(const State& state, const std::string& name) {
    for (const Region& region : state.relabelling.regions)
        for (const ArrayId array : loads_of(state.diagram, region))
            if (state.diagram[array].name == name && producer(state.diagram, array)) return true;
    return false;
}

/// The arrays that a sentence begins with; nothing of those without a name.
std::vector<std::string> named_in(std::string list) {
    list = std::regex_replace(list, std::regex(" and "), ", ");
    std::vector<std::string> names;
    const std::regex word("[^,]+");
    for (auto at = std::sregex_iterator(list.begin(), list.end(), word);
         at != std::sregex_iterator(); ++at) {
        const std::string name = std::regex_replace(at->str(), std::regex("^ +"), "");
        if (!name.starts_with("what feeds ")) names.push_back(name);
    }
    return names;
}

/// How many arrays the reasons of a step tell of.
int check_step(const State& before, const State& after) {
    const Result<Cost> cost_before = cli::cost_of_state(before);
    const Result<Cost> cost_after = cli::cost_of_state(after);
    if (!cost_before || !cost_after) return 0;
    int told = 0;
    for (const std::string& reason : cli::reasons_of(before, after, *cost_before, *cost_after)) {
        INFO(reason);
        std::smatch found;
        const std::regex gone("(.*) (stay|stays|are|is)( inside the region:)? no longer saved .*");
        const std::regex come("(.*) (are|is) saved by one region .*");
        if (std::regex_match(reason, found, gone)) {
            for (const std::string& name : named_in(found[1])) {
                ++told;
                CHECK(goes_between(before, name));
                CHECK_FALSE(goes_between(after, name));
                CHECK_EQ(find_array(after.diagram, name).has_value(), found[3].matched);
            }
        } else if (std::regex_match(reason, found, come)) {
            for (const std::string& name : named_in(found[1])) {
                ++told;
                CHECK_FALSE(goes_between(before, name));
                CHECK(goes_between(after, name));
            }
        }
    }
    return told;
}

}  // namespace

TEST_CASE("what stays in a region and what does not is told by names of both diagrams") {
    std::mt19937_64 random(20240611);
    int told = 0;
    for (std::uint32_t seed = 0; seed < 150; ++seed) {
        const std::string text = random_diagram(seed);
        SourceMap sources;
        const Result<Checked> checked = load_diagram(sources, "random.ncd", text);
        REQUIRE(checked.has_value());
        const State derived = random_derivation(checked->diagram, random, 8);
        INFO("seed ", seed, "\n", text, steps_text(derived));
        State state = initial_state(checked->diagram);
        for (const Step& step : derived.steps) {
            Outcome outcome = apply(state, step.command);
            REQUIRE(std::holds_alternative<State>(outcome));
            State next = std::get<State>(std::move(outcome));
            told += check_step(state, next);
            state = std::move(next);
        }
    }
    CHECK_GT(told, 20);
}

}  // namespace napkin::test
