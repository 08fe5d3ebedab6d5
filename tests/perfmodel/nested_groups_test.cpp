// Groups within groups: a plain kernel carries out its block's statements for all of them at once,
// so they change nothing of what its pipelines do.
#include <doctest/doctest.h>

#include <algorithm>

#include "perfmodel/kernel_choice.h"
#include "perfmodel/pipelines.h"
#include "perfmodel/time.h"
#include "tests/perfmodel/derive_support.h"

namespace napkin {
namespace {

using test::derived;
using test::machine_of;

RegionCost plain_cost(const std::string& diagram, const std::string& steps) {
    const TileProgram program = test::expanded(derived(diagram, steps));
    REQUIRE_EQ(program.regions.size(), 1);
    RegionCost cost = *cost_of(program.regions.front());
    add_work(program.regions.front(), {"simt", {}, {}}, cost);
    REQUIRE(cost.work.has_value());
    return cost;
}

struct Nesting {
    std::string diagram;
    std::string steps;               ///< at block level
    std::vector<std::string> inner;  ///< each added to them
};

std::vector<Nesting> nestings() {
    const std::string product =
        "diagram product {\n axis a = 1024, b = 512, c = 1000\n input A[a, b], B[b, c] : bf16\n"
        " output C[a, c] : bf16 = sum(b) A[a, b] * B[b, c]\n}\n";
    const std::string gated =
        "diagram gated {\n axis n = 512, d = 256, f = 512\n input X[n, d], W[d, f], V[d, f] : "
        "bf16\n"
        " output Y[n, f] : bf16 = silu(sum(d) X[n, d] * W[d, f]) * sum(d) X[n, d] * V[d, f]\n}\n";
    const std::string attention =
        "diagram attention {\n axis q = 512, x = 512, d = 64\n input Q[q, d], K[x, d], V[x, d] : "
        "bf16\n S[q, x] = sum(d) Q[q, d] * K[x, d]\n"
        " P[q, x] = softmax[x](if x <= q then S[q, x] else -inf)\n"
        " output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n weave b = 8\n}\n";
    const std::string extremes =
        "diagram extremes {\n axis a = 37, b = 129, c = 65, d = 33\n input X[a, b, c, d] : f32\n"
        " output M[b, d] : f32 = max(a, c) abs(X[a, b, c, d])\n"
        " output S[b, d] : f32 = sqrt(sum(a, c) X[a, b, c, d] ^ 2)\n}\n";
    return {{product,
             "group a by 128\ngroup c by 96\nstream b by 64\n",
             {"group a by 2 at l2\ngroup c by 2 at l2\n", "group a by 64 at l2\n",
              "group c by 24 at l2\n", "group a by 32 at l2\ngroup a by 2 at thread\n"}},
            {gated,
             "group n by 64\ngroup f by 64\nstream d by 64\n",
             {"group n by 2 at l2\ngroup f by 2 at l2\n", "group f by 16 at l2\n"}},
            {attention,
             "fuse S, P, O\ngroup q by 64\nstream x by 64\n",
             {"group q by 2 at l2\n", "group q by 16 at l2\n"}},
            {extremes,
             "fuse all\ngroup b by 1\ngroup d by 16\nstream a by 8\n",
             {"group d by 1 at l2\n", "group d by 5 at l2\n"}}};
}

TEST_CASE("groups within a block's change nothing of what a plain kernel does") {
    for (const Nesting& nesting : nestings()) {
        const RegionCost whole = plain_cost(nesting.diagram, nesting.steps);
        const UnitWork expected = all_of(*whole.work);
        for (const std::string& inner : nesting.inner) {
            INFO(nesting.diagram, nesting.steps, inner);
            const RegionCost divided = plain_cost(nesting.diagram, nesting.steps + inner);
            const UnitWork work = all_of(*divided.work);
            CHECK_EQ(work.instructions, expected.instructions);
            CHECK_EQ(work.exponentials, expected.exponentials);
            CHECK_EQ(work.turns, expected.turns);
            CHECK_EQ(work.shared, expected.shared);
            CHECK_EQ(work.loaded, expected.loaded);
            CHECK_EQ(work.saved, expected.saved);
            CHECK_EQ(work.steps, expected.steps);
            CHECK_EQ(work.barriers, expected.barriers);
            CHECK_GE(divided.work->shared_bytes, whole.work->shared_bytes);
        }
    }
}

TEST_CASE("no time is less than what a pipeline takes for its work") {
    const Machine h200 = machine_of("H200");
    for (const Nesting& nesting : nestings())
        for (const std::string& inner : nesting.inner)
            for (const std::string& steps : {nesting.steps, nesting.steps + inner}) {
                INFO(nesting.diagram, steps);
                const RegionCost cost = plain_cost(nesting.diagram, steps);
                const TimeEstimate time = time_of(cost, h200);
                for (const TimeTerm& term : time.terms) {
                    INFO(term.name);
                    CHECK_LE(term.low, time.high);
                }
                for (const Pipeline& pipeline : pipelines_of(cost, h200)) {
                    INFO(pipeline.name);
                    // What parts of a block load from it, a plain kernel does not.
                    if (pipeline.name == "shared memory") continue;
                    CHECK_GE(time.middle().value, pipeline.least / pipeline.rate);
                }
            }
}

}  // namespace
}  // namespace napkin
