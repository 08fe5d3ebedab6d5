// Bounds and closed-form optima.
#include "perfmodel/bound.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <random>

#include "tests/perfmodel/derive_support.h"
#include "tests/support/random_derivation.h"
#include "tests/support/random_diagram.h"

namespace napkin {
namespace {

using test::derived;

Machine machine_with(double block_bytes) {
    SourceMap sources;
    const Result<Machine> machine = load_machine(
        sources,
        "abstract2,block.capacity=" + std::to_string(static_cast<long>(block_bytes)) + " B");
    REQUIRE(machine.has_value());
    return *machine;
}

enum class Hidden { Else, Then };

std::string attention(const std::string& condition, Hidden hidden = Hidden::Else) {
    return "diagram attention {\n axis q = 64, x = 96, d = 8\n"
           " input Q[q, d], K[x, d], V[x, d] : bf16\n"
           " S[q, x] = sum(d) Q[q, d] * K[x, d]\n P[q, x] = softmax[x](if " +
           condition +
           (hidden == Hidden::Else ? " then S[q, x] else -inf" : " then -inf else S[q, x]") +
           ")\n output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n}\n";
}

const std::string kAffine =
    "monoid affine(a, b; c, d) = (a * c, b * c + d) identity (1, 0) noncommutative\n"
    "diagram r {\n axis t = 33, c = 5\n input A[t, c], X[t, c] : f32\n";

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
        {attention("x <= q", Hidden::Then), 2 * 64 * 8 + 95 * 8 + 95 * 8},
        // what both branches of a condition read is needed whatever the data says
        {"diagram d {\n axis n = 8, c = 5\n input L[n, c] : f32, y[n] : i32\n output O[n] = sum(c) "
         "(if c == y[n] then 2 * L[n, c] else L[n, c])\n}\n",
         8 * 5 + 8 + 8},
        {"diagram d {\n axis n = 8, c = 5\n input L[n, c] : f32, y[n] : i32\n output O[n] = sum(c) "
         "(if c == y[n] then 2 * L[n, c] else if y[n] < 3 then L[n, c] else 0)\n}\n",
         8 + 8},
        // the part of a matrix that a mask leaves is counted point by point
        {"diagram t {\n axis q = 64, x = 96\n input A[q, x] : f32\n"
         " output Y[q] = sum(x) (if x <= q then A[q, x] else 0)\n}\n",
         64 * 65 / 2 + 64},
        {"diagram m {\n axis a = 8, b = 4\n input A[a, b] : f32\n"
         " output C[a] = sum(b) (if b >= 1 then 0 else A[a, b])\n}\n",
         8 * 1 + 8},
        {"diagram m {\n axis a = 8, b = 4\n input A[a, b], B[a, b] : f32\n"
         " output C[a] = sum(b) (if b >= 1 then B[a, b] else A[a, b])\n}\n",
         8 * 3 + 8 + 8},
        {"diagram e {\n axis n = 5, v = 100, d = 3\n input E[v, d] : f32\n input label[n] : i32\n"
         " output Y[n, d] = E[label[n], d] * 2\n}\n",
         5 + 15},
        // one use that data decides takes nothing from another that it does not
        {"diagram l {\n axis n = 5, v = 7\n input Z[n, v] : f32\n input label[n] : i32\n"
         " M[n] = max(v) Z[n, v]\n T[n] = sum(v) (if v == label[n] then Z[n, v] else 0)\n"
         " output Y[n] = M[n] - T[n]\n}\n",
         5 * 7 + 5 + 5},
        // a shifted read needs what it reaches
        {"diagram s {\n axis p = 6, r = 3, n = p + r - 1\n input X[n], W[r] : f32\n"
         " output Y[p] = sum(r) X[p + r] * W[r]\n}\n",
         8 + 3 + 6},
        // of several results each needs what it needs, whether or not the others are used
        {"diagram a {\n axis n = 10, e = 7\n input G[n, e] : f32\n"
         " output I[n] : i32 = argmax(e) G[n, e]\n}\n",
         10 * 7 + 10},
        {"diagram a {\n axis n = 10, e = 7, k = 3\n input G[n, e] : f32\n"
         " v[n, k], i[n, k] = topk[e](G[n, e])\n output Y[n, k] = v[n, k]\n}\n",
         10 * 7 + 10 * 3},
        {"monoid plus(a, b; c, d) = (a + c, b + d) identity (0, 0)\n"
         "diagram p {\n axis t = 33, c = 5\n input K[t, c], L[t, c] : f32\n"
         " x[c], y[c] = plus(t) (K[t, c], L[t, c])\n output Y[c] : f32 = x[c]\n}\n",
         33 * 5 + 5},
        // what came before the first element is the identity, which nothing of it multiplies
        {kAffine + " p[c], h[c] = affine(t) (A[t, c], X[t, c])\n output Y[c] : f32 = h[c]\n}\n",
         32 * 5 + 33 * 5 + 5},
        {kAffine + " p[c], h[c] = affine(t) (A[t, c], X[t, c])\n output Y[c] : f32 = p[c]\n}\n",
         33 * 5 + 5},
        {kAffine + " p[t, c], h[t, c] = scan[t] affine (A[t, c], X[t, c])\n"
                   " output Y[t, c] : f32 = h[t, c]\n}\n",
         32 * 5 + 33 * 5 + 33 * 5},
        {kAffine + " p[t, c], h[t, c] = scan[t] affine (A[t, c], X[t, c])\n"
                   " output Y[c] : f32 = h[4, c]\n}\n",
         5 + 5 + 5},
        {"diagram a {\n axis n = 10, e = 1\n input G[n, e] : f32\n"
         " output I[n] : i32 = argmax(e) G[n, e]\n}\n",
         10},
        // of what travels with the largest, data decides which is read
        {"monoid best(v, i; w, j) = (max(v, w), if v >= w then i else j) identity (-inf, 0) "
         "noncommutative\n"
         "diagram p {\n axis t = 33, c = 5\n input A[t, c], X[t, c] : f32\n"
         " p[c], h[c] = best(t) (A[t, c], X[t, c])\n output Y[c] : f32 = h[c]\n}\n",
         33 * 5 + 5},
        {"monoid best(v, i; w, j) = (max(v, w), if v >= w then i else j) identity (-inf, 0) "
         "noncommutative\n"
         "diagram p {\n axis t = 33, c = 5\n input A[t, c] : f32, X[t, c] : bf16\n"
         " p[t, c], h[t, c] = scan[t] best (A[t, c], X[t, c])\n output Y[c] : f32 = h[0, c]\n}\n",
         5 + 5},
        // nor is anything claimed beside what may end it
        {kAffine + " p[c], h[c] = affine(t) (if t % 8 == 0 then 0 else A[t, c], X[t, c])\n"
                   " output Y[c] : f32 = h[c]\n}\n",
         5},
        {"monoid plus(a, b; c, d) = (a + c, b + d) identity (0, 0)\n"
         "diagram p {\n axis t = 33, c = 5\n input K[t, c] : f32\n"
         " x[c], y[c] = plus(t) (K[t, c], 1)\n output Y[c] : f32 = x[c] / y[c]\n}\n",
         33 * 5 + 5},
    };
    for (const Case& c : cases) {
        const State state = derived(c.diagram);
        const std::optional<TransferBound> bound = bound_of(state.diagram, state);
        REQUIRE(bound.has_value());
        INFO(c.diagram);
        CHECK_EQ(bound->values, c.values);
        CHECK_LE(bound->bits, test::cost(state).transferred.at(Level::Block).bits);
    }
}

TEST_CASE("the bound is one of the plain diagram, in the types that a state stores") {
    const std::string decoding =
        "diagram s {\n axis q = 4, x = 512, d = 8\n input Q[q, d], K[x, d], V[x, d] : bf16\n"
        " S[q, x] = sum(d) Q[q, d] * K[x, d]\n P[q, x] = softmax[x](S[q, x])\n"
        " output O[q, d] = sum(x) P[q, x] * V[x, d]\n}\n";
    const Diagram plain = derived(decoding).diagram;
    const State split = derived(decoding, "fuse all\nsplit-stream x by 64\n");
    const std::optional<TransferBound> bound = bound_of(plain, split);
    REQUIRE(bound.has_value());
    CHECK_EQ(bound->values, 2 * 4 * 8 + 2 * 512 * 8);
    CHECK_EQ(bound->bits, 16 * (4 * 8 + 2 * 512 * 8) + 32 * 4 * 8);
    const State small = derived(decoding, "retype O to e4m3\n");
    CHECK_EQ(bound_of(plain, small)->bits, 16 * (4 * 8 + 2 * 512 * 8) + 8 * 4 * 8);
}

TEST_CASE("a contraction is bound by what a block holds") {
    const std::string matmul =
        "diagram m {\n axis a = 512, b = 512, c = 512\n input A[a, b], B[b, c] : f32\n"
        " output C[a, c] = sum(b) A[a, b] * B[b, c]\n}\n";
    for (const int group : {4, 8, 16, 32, 64}) {
        const State state =
            derived(matmul, "group a by " + std::to_string(group) + "\ngroup c by " +
                                std::to_string(group) + "\nstream b by 1\n");
        const RegionCost cost = test::cost(state).regions.front();
        const LevelCost& block = cost.levels.at(Level::Block);
        const Machine machine = machine_with(static_cast<double>(block.allocated.bytes()));
        const auto bound = bound_of(derived(matmul).diagram, state, &machine);
        REQUIRE(bound.has_value());
        INFO("groups of ", group);
        CHECK_LE(bound->bits, block.transferred.bits);
        if (group < 32) CHECK_GE(2 * bound->bits, block.transferred.bits);
    }
}

TEST_CASE("what rules cancel is not needed") {
    const std::string head = "diagram d {\n axis q = 4, x = 64\n input S[q, x], V[q, x] : f32\n";
    const std::string softmax = head + " P[q, x] = softmax[x](S[q, x])\n";
    struct Case {
        std::string diagram;
        std::string steps;
        std::int64_t values;
    };
    const Case cases[] = {
        {head + " m[q] = mean[x](S[q, x])\n output Y[q] : f32 = sum(x) (S[q, x] - m[q])\n}\n",
         "fuse all\nsplit-stream x by 32\n", 4},
        {head + " m[q] = mean[x](S[q, x])\n"
                " output Y[q] : f32 = (sum(x) (S[q, x] - m[q])) + S[q, 0]\n}\n",
         "fuse all\nsplit-stream x by 32\n", 8},
        {softmax + " m[q] = sum(x) P[q, x] * V[q, x]\n"
                   " output Y[q] : f32 = sum(x) P[q, x] * (V[q, x] - m[q])\n}\n",
         "fuse all\nsplit-stream x by 32\n", 4},
        {head + " output Y[q] : f32 = sum(x) (S[q, x] - V[q, x])\n}\n",
         "fuse all\nsplit-stream x by 32\n", 2 * 4 * 64 + 4},
        // a mask of what is still read counts
        {head + " axis z = x\n output Y[q] : f32 = (sum(x) (S[q, x] - mean[x](S[q, x])))"
                " + sum(z) (if z < 4 then S[q, z] else 0)\n}\n",
         "split-stream x by 32\nstream z by 4\n", 4 * 4 + 4},
        {head + " axis z = x\n m[q] = mean[x](S[q, x])\n"
                " output Y[q] : f32 = sum(x) (S[q, x] - m[q])\n"
                " output Z[q] : f32 = sum(z) (if z >= 2 * q and z < 2 * q + 4 then S[q, z] else "
                "0)\n}\n",
         "fuse m, Y\nsplit-stream x by 32 in Y\ngroup q by 1 in Z\nstream z by 2 in Z\n",
         4 * 4 + 2 * 4},
    };
    for (const Case& c : cases) {
        INFO(c.diagram);
        const Diagram plain = derived(c.diagram).diagram;
        const State state = derived(c.diagram, c.steps);
        const std::optional<TransferBound> bound = bound_of(plain, state);
        REQUIRE(bound.has_value());
        CHECK_EQ(bound->values, c.values);
        CHECK_LE(bound->bits, test::cost(state).transferred.at(Level::Block).bits);
    }
}

/// Attention whose mask and sizes are drawn, and derivations that skip what it hides.
std::string random_masked(std::mt19937_64& random) {
    const auto pick = [&](std::initializer_list<const char*> of) {
        return std::string(*(of.begin() + static_cast<std::ptrdiff_t>(random() % of.size())));
    };
    const std::string condition =
        pick({"x <= q", "x > q", "x <= q + 3 and q - x < 5", "x // 4 == q // 4", "x % 3 == 0",
              "x < 9 or x == q", "not (x <= q)", "doc[q] == doc[x]", "q == q"});
    const std::string hidden = pick({"if %c then S[q, x] else -inf", "if %c then -inf else S[q, x]",
                                     "S[q, x] + (if %c then 0 else -inf)"});
    std::string masked = hidden;
    masked.replace(masked.find("%c"), 2, condition);
    const auto size = [&] { return std::to_string(3 + random() % 40); };
    const std::string q = size();
    return "diagram masked {\n axis q = " + q + ", x = " + q +
           ", d = 3\n"
           " input Q[q, d], K[x, d], V[x, d] : bf16\n input doc[q] : i32\n"
           " S[q, x] = sum(d) Q[q, d] * K[x, d]\n P[q, x] = softmax[x](" +
           masked +
           ")\n"
           " output O[q, d]" +
           pick({"", " : bf16", " : f32"}) + " = sum(x) P[q, x] * V[x, d]\n}\n";
}

/// What every derivation has to keep to: the bound, and the best of its kind where one is known.
void check_bounds(const Diagram& plain, const State& state, int& known) {
    const Cost cost = test::cost(state);
    std::int64_t held = 8;
    for (const RegionCost& region : cost.regions) {
        std::int64_t here = 0;
        for (const auto& [level, of] : region.levels) here += of.allocated.bytes();
        held = std::max(held, here);
    }
    const Machine machine = machine_with(static_cast<double>(held));
    const auto bound = bound_of(plain, state, &machine);
    REQUIRE(bound.has_value());
    CHECK_LE(bound->bits, cost.transferred.at(Level::Block).bits);
    if (cost.regions.size() != 1) return;
    const auto best = best_of(cost.regions.front(), Bytes{static_cast<double>(held)});
    const BestTransfers* found = std::get_if<BestTransfers>(&best);
    if (found == nullptr) return;
    ++known;
    CHECK_GE(found->bits * (1 + 1e-9), static_cast<double>(bound->bits));
    CHECK_LE(found->bits * (1 - 1e-9), static_cast<double>(cost.transferred.at(Level::Block).bits));
}

TEST_CASE("no derivation of a random diagram transfers less than the bound") {
    std::mt19937_64 random(20);
    int known = 0;
    // NAPKIN_TRIALS asks for more.
    const char* const more = std::getenv("NAPKIN_TRIALS");
    const auto trials = static_cast<std::uint32_t>(more != nullptr ? std::stoul(more) : 100);
    for (std::uint32_t seed = 0; seed < trials; ++seed) {
        const bool is_masked = seed % 2 == 0;
        const std::string text =
            is_masked ? random_masked(random) : test::random_diagram(seed + 5000);
        const Diagram plain = derived(text).diagram;
        State state = derived(text, is_masked ? "fuse all\nstream x by 2\n" : "");
        for (int step = 0; step < 10; ++step) {
            Outcome next = apply(state, test::random_command(state, random));
            if (State* found = std::get_if<State>(&next)) state = std::move(*found);
            INFO(text, test::steps_text(state));
            check_bounds(plain, state, known);
        }
    }
    CHECK_GT(20 * static_cast<std::uint32_t>(known), trials);
}

TEST_CASE("no derivation that cancels a read transfers less than the bound, whatever masks it") {
    std::mt19937_64 random(22);
    const auto pick = [&](std::initializer_list<const char*> of) {
        return std::string(*(of.begin() + static_cast<std::ptrdiff_t>(random() % of.size())));
    };
    for (int trial = 0; trial < 60; ++trial) {
        const std::string mask = pick({"z < 4", "z >= 24", "z <= q", "z // 8 == q", "z % 8 == 0",
                                       "z >= 8 * q and z < 8 * q + 8", "not (z < 20)", "len[q] > z",
                                       "z < 4 or z == q + 9"});
        const std::string head =
            "diagram cancelled {\n axis q = 4, x = 32, z = x\n input S[q, x], V[q, x] : f32\n"
            " input len[q] : i32\n";
        const bool apart = trial % 2 == 0;
        std::string cancelled = pick({"S", "V"});
        cancelled += "[q, x] - mean[x](" + cancelled + "[q, x])";
        if (apart) cancelled += pick({"", " + V[q, x]"});
        const std::string kept = "sum(z) (if " + mask + " then " + pick({"S", "V"}) +
                                 "[q, z] else " + pick({"0", "len[q]"}) + ")";
        const std::string text = head + (apart ? " output Y[q] : f32 = sum(x) (" + cancelled +
                                                     ")\n output Z[q] : f32 = " + kept + "\n}\n"
                                               : " output Y[q] : f32 = (sum(x) (" + cancelled +
                                                     ")) + " + kept + "\n}\n");
        const Diagram plain = derived(text).diagram;
        State state = derived(text, std::string("split-stream x by 16") + (apart ? " in Y" : "") +
                                        "\nstream z by 2" + (apart ? " in Z\n" : "\n"));
        int known = 0;
        for (int step = 0; step < 6; ++step) {
            INFO(text, test::steps_text(state));
            check_bounds(plain, state, known);
            Outcome next = apply(state, test::random_command(state, random));
            if (State* found = std::get_if<State>(&next)) state = std::move(*found);
        }
    }
}

TEST_CASE("no product of copies in narrow types transfers less than the bound") {
    std::mt19937_64 random(21);
    const std::string text =
        "diagram m {\n axis i = 256, j = 256, k = 256\n input A[i, k], B[k, j] : f32\n"
        " output C[i, j] : f32 = sum(k) A[i, k] * B[k, j]\n}\n";
    const Diagram plain = derived(text).diagram;
    for (int trial = 0; trial < 60; ++trial) {
        const auto type = [&] { return std::array{"f32", "bf16", "e4m3"}[random() % 3]; };
        const auto size = [&] { return std::to_string(8 << random() % 5); };
        std::string steps = "layout A[k, i] as A2\nlayout B[j, k] as B2\n";
        for (const std::string copy : {"A2", "B2"})
            steps += "retype " + copy + " to " + type() + "\ngroup k by 64 in " + copy +
                     "\ngroup " + (copy == "A2" ? "i" : "j") + " by 64 in " + copy + "\n";
        steps +=
            "group i by " + size() + " in C\ngroup j by " + size() + " in C\nstream k by 1 in C\n";
        INFO(steps);
        const State state = derived(text, steps);
        int known = 0;
        check_bounds(plain, state, known);
        // A level's processors hold what the widest region asks for, registers included.
        const Cost cost = test::cost(state);
        const Machine machine = machine_with(
            static_cast<double>(cost.regions.back().levels.at(Level::Block).allocated.bytes()));
        CHECK_LE(bound_of(plain, state, &machine)->bits, cost.transferred.at(Level::Block).bits);
    }
}

TEST_CASE("continuous optima are the paper's") {
    const RegionCost matmul = test::cost(derived("diagram m {\n axis a = 512, b = 256, c = 512\n"
                                                 " input A[a, b], B[b, c] : f32\n"
                                                 " output C[a, c] = sum(b) A[a, b] * B[b, c]\n}\n",
                                                 "group a by 16\ngroup c by 16\nstream b by 1\n"))
                                  .regions.front();
    const auto square = best_of(matmul, Bytes{4 * 4096.});
    REQUIRE(std::holds_alternative<BestTransfers>(square));
    CHECK_EQ(std::get<BestTransfers>(square).formula, "ac + 2abc/M^(1/2)");
    CHECK_EQ(std::get<BestTransfers>(square).bits / 32,
             doctest::Approx(2. * 512 * 256 * 512 / 64 + 512 * 512));

    // Q and K are bf16, what O accumulates f32: M = 6 g_q d bytes.
    const RegionCost flash =
        test::cost(derived(attention("x >= 0"), "fuse S, P, O\ngroup q by 16\nstream x by 1\n"))
            .regions.front();
    const auto product = best_of(flash, Bytes{1024. * 6 / 2});
    REQUIRE(std::holds_alternative<BestTransfers>(product));
    CHECK_EQ(std::get<BestTransfers>(product).formula, "2qd + 4qx·d^2/M");
    CHECK_EQ(std::get<BestTransfers>(product).bits / 16,
             doctest::Approx(2. * 64 * 8 + 4. * 64 * 96 * 64 / 1024));
}

TEST_CASE("where a group cannot be as large as it should, its axis is whole") {
    const RegionCost flash =
        test::cost(derived(attention("x >= 0"), "fuse S, P, O\ngroup q by 16\nstream x by 1\n"))
            .regions.front();
    const auto best = best_of(flash, Bytes{1e6});
    REQUIRE(std::holds_alternative<BestTransfers>(best));
    CHECK_EQ(std::get<BestTransfers>(best).bits / 16, doctest::Approx(2. * 64 * 8 + 2. * 96 * 8));
    CHECK_EQ(std::get<BestTransfers>(best).validity, "in the limit of small chunks, at g_q = 64");
    CHECK(std::holds_alternative<NotApplicable>(best_of(flash, Bytes{8})));
    const RegionCost masked =
        test::cost(derived(attention("x <= q"), "fuse S, P, O\ngroup q by 16\nstream x by 1\n"))
            .regions.front();
    const auto none = best_of(masked, Bytes{1e6});
    REQUIRE(std::holds_alternative<NotApplicable>(none));
    CHECK_EQ(std::get<NotApplicable>(none).reason,
             "its mask leaves chunks out, which no closed form counts");
}

TEST_CASE("where smaller groups overlap less, the best of a kind has groups of 1") {
    const auto cost_at = [](std::int64_t group) {
        return test::cost(derived("diagram every_other {\n axis p = 64, n = 2 * p, c = 8\n"
                                  " input X[n, c] : bf16\n"
                                  " output Y[p, c] : bf16 = X[2 * p, c] * 2\n}\n",
                                  "group p by " + std::to_string(group) + "\n"))
            .regions.front();
    };
    const auto best = best_of(cost_at(4), Bytes{1e6});
    REQUIRE(std::holds_alternative<BestTransfers>(best));
    CHECK_EQ(std::get<BestTransfers>(best).bits / 16, doctest::Approx(2. * 64 * 8));
    CHECK_EQ(std::get<BestTransfers>(best).validity, "in the limit of small chunks, at g_p = 1");
    for (const std::int64_t group : {1, 2, 4, 8, 16, 32, 64})
        CHECK_GE(static_cast<double>(cost_at(group).levels.at(Level::Block).transferred.bits),
                 std::get<BestTransfers>(best).bits);
}

TEST_CASE("no tiling beats the closed form at its own memory") {
    for (std::int64_t group : {2, 4, 8, 16, 32}) {
        const State state =
            derived(attention("x >= 0"),
                    "fuse S, P, O\ngroup q by " + std::to_string(group) + "\nstream x by 1\n");
        const RegionCost cost = test::cost(state).regions.front();
        const LevelCost& block = cost.levels.at(Level::Block);
        const auto best = best_of(cost, Bytes{static_cast<double>(block.memory.bytes())});
        REQUIRE(std::holds_alternative<BestTransfers>(best));
        CHECK_GE(static_cast<double>(block.transferred.bits), std::get<BestTransfers>(best).bits);
    }
}

}  // namespace
}  // namespace napkin
