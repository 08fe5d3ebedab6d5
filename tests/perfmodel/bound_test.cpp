// Bounds and closed-form optima.
#include "perfmodel/bound.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/perfmodel/derive_support.h"

namespace napkin {
namespace {

using test::derived;

std::string attention(const std::string& condition) {
    return "diagram attention {\n axis q = 64, x = 96, d = 8\n"
           " input Q[q, d], K[x, d], V[x, d] : bf16\n"
           " S[q, x] = sum(d) Q[q, d] * K[x, d]\n P[q, x] = softmax[x](if " +
           condition +
           " then S[q, x] else -inf)\n output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n}\n";
}

TEST_CASE("compulsory traffic counts what every schedule must touch") {
    struct Case {
        std::string diagram;
        std::int64_t values;
    };
    const Case cases[] = {
        {"diagram m {\n axis a = 8, b = 4, c = 6\n input A[a, b], B[b, c] : f32\n"
         " output C[a, c] = sum(b) A[a, b] * B[b, c]\n}\n",
         8 * 4 + 4 * 6 + 8 * 6},
        {attention("x >= 0"), 2 * 64 * 8 + 2 * 96 * 8},
        {attention("x <= q"), 2 * 64 * 8 + 2 * 64 * 8},
        {attention("x % 2 == 0"), 2 * 64 * 8 + 2 * 48 * 8},
        {attention("x <= q and q < 4"), 4 * 8 + 64 * 8 + 2 * 4 * 8},
        {attention("not (x < 90)"), 2 * 64 * 8 + 2 * 6 * 8},
        {attention("min(max(q - 3, 0), 50) <= x and x < min(max(q - 3, 0), 50) + 7"),
         2 * 64 * 8 + 2 * 57 * 8},
        {"diagram m {\n axis a = 8, b = 4\n input A[a, b] : f32\n"
         " output C[a] = sum(b) (if b >= 1 then 0 else A[a, b])\n}\n",
         8 * 1 + 8},
        {"diagram m {\n axis a = 8, b = 4\n input A[a, b], B[a, b] : f32\n"
         " output C[a] = sum(b) (if b >= 1 then B[a, b] else A[a, b])\n}\n",
         8},
        {"diagram e {\n axis n = 5, v = 100, d = 3\n input E[v, d] : f32\n input label[n] : i32\n"
         " output Y[n, d] = E[label[n], d] * 2\n}\n",
         5 + 15},
    };
    for (const Case& c : cases) {
        const State state = derived(c.diagram);
        const std::optional<TransferBound> bound = bound_of(state.diagram);
        REQUIRE(bound.has_value());
        INFO(c.diagram);
        CHECK_EQ(bound->amount.values, c.values);
        CHECK_LE(bound->amount.values, test::cost(state).transferred.at(Level::Block).values);
    }
}

TEST_CASE("continuous optima are the paper's") {
    const RegionCost matmul = test::cost(derived("diagram m {\n axis a = 512, b = 256, c = 512\n"
                                                 " input A[a, b], B[b, c] : f32\n"
                                                 " output C[a, c] = sum(b) A[a, b] * B[b, c]\n}\n",
                                                 "group a by 16\ngroup c by 16\nstream b by 1\n"))
                                  .regions.front();
    const std::optional<BestTransfers> square = best_of(matmul, 4096);
    REQUIRE(square.has_value());
    CHECK_EQ(square->formula, "ac + 2abc/M^(1/2)");
    CHECK_EQ(square->values, doctest::Approx(2. * 512 * 256 * 512 / 64 + 512 * 512));

    const RegionCost flash =
        test::cost(derived(attention("x >= 0"), "fuse S, P, O\ngroup q by 16\nstream x by 1\n"))
            .regions.front();
    const std::optional<BestTransfers> product = best_of(flash, 1024);
    REQUIRE(product.has_value());
    CHECK_EQ(product->formula, "2qd + 4qx·d^2/M");
    CHECK_EQ(product->values, doctest::Approx(2. * 64 * 8 + 4. * 64 * 96 * 64 / 1024));
}

TEST_CASE("no tiling beats the closed form at its own memory") {
    for (std::int64_t group : {2, 4, 8, 16, 32}) {
        const State state =
            derived(attention("x >= 0"),
                    "fuse S, P, O\ngroup q by " + std::to_string(group) + "\nstream x by 1\n");
        const RegionCost cost = test::cost(state).regions.front();
        const LevelCost& block = cost.levels.at(Level::Block);
        const std::optional<BestTransfers> best = best_of(cost, block.memory.values);
        REQUIRE(best.has_value());
        CHECK_GE(static_cast<double>(block.transferred.values), best->values);
    }
}

}  // namespace
}  // namespace napkin
