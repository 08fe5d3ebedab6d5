// The exact H and A of the model are what the interpreter counts, on diagrams and derivations that
// nobody wrote.
#include <doctest/doctest.h>

#include <cstdlib>
#include <random>

#include "tests/perfmodel/counted.h"
#include "tests/support/random_derivation.h"
#include "tests/support/random_diagram.h"

namespace napkin {
namespace {

/// NAPKIN_TRIALS lengthens a search for counterexamples beyond what every test run does.
std::uint32_t trials(std::uint32_t usual) {
    const char* wanted = std::getenv("NAPKIN_TRIALS");
    return wanted != nullptr ? static_cast<std::uint32_t>(std::stoul(wanted)) : usual;
}

/// Random masks seldom leave a whole chunk empty.
constexpr const char* kNeighbours =
    "diagram windowed {\n axis q = 23, x = 31, d = 3, e = d\n input Q[q, d], K[x, d], V[x, e]\n"
    " S[q, x] = if x <= q + 8 and q - x < 4 then sum(d) Q[q, d] * K[x, d] else -inf\n"
    " P[q, x] = softmax[x](S[q, x])\n output O[q, e] = sum(x) P[q, x] * V[x, e]\n weave h = 2\n}\n";

/// What a run of the property met; it says nothing about what it never met.
struct Met {
    int nested = 0;
    int streamed = 0;
    int masked = 0;
};

void note(const State& state, Met& met) {
    for (const Region& region : state.relabelling.regions) {
        for (const Group& group : region.groups) met.nested += group.level != Level::Block ? 1 : 0;
        met.streamed += region.streams.empty() ? 0 : 1;
    }
    const Cost cost = test::cost(state);
    for (const RegionCost& region : cost.regions)
        met.masked += region.chunks_visited < region.chunks ? 1 : 0;
}

TEST_CASE("random derivations of random diagrams cost what they count") {
    std::mt19937_64 random(13);
    Met met;
    for (std::uint32_t seed = 0; seed < trials(300); ++seed) {
        const std::string text = test::random_diagram(seed);
        State state;
        try {
            state = test::random_derivation(test::derived(text).diagram, random, 12);
            INFO(text, test::steps_text(state));
            test::check_counted("seed " + std::to_string(seed), state);
            note(state, met);
        } catch (const InternalError& bug) {
            FAIL_CHECK(std::string(bug.what()), "\nseed ", seed, "\n", text,
                       test::steps_text(state));
        }
    }
    CHECK_GT(met.nested, 20);
    CHECK_GT(met.streamed, 20);
}

TEST_CASE("a loop that a mask over other axes leaves empty moves nothing") {
    // The last of the parts of parts lies beyond the axis.
    const State state = test::derived(
        "diagram parts {\n axis q = 3, x = 7, k = 5\n input A[k, x, q]\n"
        " output T[q] = sum(k, x) A[k, x, q]\n}\n",
        "split-stream x by 2\nstream k by 2 at l2 in T_sum_part\nsplit-stream x_in by 1 in "
        "T_sum_part\n");
    test::check_counted("parts", state);
}

TEST_CASE("random tiles of a window cost what they count") {
    std::mt19937_64 random(14);
    const auto size = [&](std::uint64_t most) { return 1 + random() % most; };
    Met met;
    for (int trial = 0; trial < 40; ++trial) {
        const std::uint64_t outer = size(12);
        std::string steps = "fuse all\ngroup q by " + std::to_string(outer) + "\nstream x by " +
                            std::to_string(size(12)) + "\n";
        if (outer > 1 && random() % 2 == 0)
            steps += "group q by " + std::to_string(size(outer - 1)) + " at l2\n";
        INFO(steps);
        const State state = test::derived(kNeighbours, steps);
        test::check_counted("windowed", state);
        note(state, met);
    }
    CHECK_GT(met.masked, 20);
}

}  // namespace
}  // namespace napkin
