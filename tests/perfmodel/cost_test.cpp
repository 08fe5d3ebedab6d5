// The model against the interpreter's counters, and the paper's ideal forms.
#include "perfmodel/cost.h"

#include <doctest/doctest.h>

#include "derive/interpret.h"
#include "tests/perfmodel/derive_support.h"

namespace napkin {
namespace {

using test::derived;

/// Compares every number of the model with the interpreter's, and formulas with their values.
void check_counted(const std::string& name, const State& state) {
    const TileProgram program = test::expanded(state);
    const Cost model = test::cost(state);
    const std::vector<Counters> counted = count(program);
    REQUIRE_EQ(model.regions.size(), counted.size());
    for (std::size_t i = 0; i < counted.size(); ++i) {
        const RegionCost& region = model.regions[i];
        INFO(name, ", region ", region.name);
        for (const auto& [level, cost] : region.levels) {
            INFO("level ", std::string(name_of(level)));
            const auto at = [&](const std::map<Level, std::int64_t>& of) {
                const auto found = of.find(level);
                return found == of.end() ? 0 : found->second;
            };
            CHECK_EQ(cost.transferred.values, at(counted[i].transferred));
            CHECK_EQ(cost.transferred.bits, at(counted[i].transferred_bits));
            CHECK_EQ(cost.allocated.values, at(counted[i].peak));
            CHECK_EQ(cost.allocated.bits, at(counted[i].peak_bits));
            CHECK_LE(cost.memory.values, cost.allocated.values);
            for (const Amount* amount : {&cost.transferred, &cost.memory, &cost.allocated}) {
                INFO(print(amount->formula));
                CHECK_EQ(evaluate_integer(amount->formula, region.sizes), amount->values);
            }
        }
        CHECK_EQ(region.arithmetic.operations, counted[i].flops);
        CHECK_EQ(region.arithmetic.exponentials, counted[i].exponentials);
        CHECK_EQ(region.blocks, counted[i].blocks);
    }
}

/// The ideal H of all regions at block level.
Polynomial ideal_transfers(const State& state) {
    const Cost model = test::cost(state);
    const std::optional<Polynomial>& ideal = model.transferred.at(Level::Block).ideal;
    REQUIRE(ideal.has_value());
    return *ideal;
}

Polynomial polynomial(const std::string& text) {
    const std::vector<std::string> symbols = {"a",   "b",   "c",   "q",   "x",  "d",   "h",
                                              "g",   "y",   "w",   "p",   "r",  "g_a", "g_b",
                                              "g_c", "g_q", "g_g", "s_x", "s_b"};
    const Result<Polynomial> result = parse_polynomial(text, symbols);
    REQUIRE_MESSAGE(result.has_value(), text);
    return *result;
}

const char* const kMatmul =
    "diagram matmul {\n axis a = 37, b = 23, c = 41\n input A[a, b], B[b, c] : bf16\n"
    " output C[a, c] : f32 = sum(b) A[a, b] * B[b, c]\n}\n";
const char* const kSoftmaxContraction =
    "diagram figure9 {\n axis q = 20, x = 33, d = 7\n input S[q, x], V[x, d] : bf16\n"
    " P[q, x] = softmax[x](S[q, x])\n output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n}\n";
std::string attention(const std::string& sizes, const std::string& weave,
                      const std::string& score = "S[q, x]") {
    return "diagram attention {\n axis " + sizes +
           "\n input Q[q, d], K[x, d], V[x, d] : bf16\n"
           " S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n P[q, x] = softmax[x](" +
           score + ")\n output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n" + weave + "}\n";
}
const char* const kFlash = "fuse S, P, O\ngroup q by 8 at l1\nstream x by 4 at l1\n";
const char* const kCausal = "if x <= q + size(x) - size(q) then S[q, x] else -inf";
const char* const kWindow =
    "if x <= q + size(x) - size(q) and x > q + size(x) - size(q) - 9 then S[q, x] else -inf";

TEST_CASE("matmul costs what it counts") {
    check_counted("plain", derived(kMatmul));
    check_counted("grouped", derived(kMatmul, "group a by 8 at l1\ngroup c by 16 at l1\n"));
    check_counted(
        "nested",
        derived(kMatmul, "group a by 8 at l1\ngroup c by 16 at l1\ngroup a by 3 at l2\n"));
    check_counted("streamed", derived(kMatmul, "group a by 8\ngroup c by 16\nstream b by 5\n"));
    check_counted(
        "streamed below",
        derived(kMatmul, "group a by 8\ngroup c by 16\nstream b by 5\ngroup a by 4 at l2\n"));
}

TEST_CASE("attention costs what it counts, at sizes that divide and sizes that do not") {
    for (const char* sizes : {"q = 32, x = 32, d = 4", "q = 29, x = 31, d = 5",
                              "q = 7, x = 50, d = 3", "q = 50, x = 7, d = 3"})
        for (const char* weave : {"", " weave b = 2, h = 3\n", " weave g = 4 over Q\n"})
            for (const char* score : {"S[q, x]", kCausal, kWindow}) {
                const std::string text = attention(sizes, weave, score);
                check_counted(std::string(sizes) + score, derived(text));
                check_counted(std::string(sizes) + score, derived(text, kFlash));
                check_counted(std::string(sizes) + score,
                              derived(text, std::string(kFlash) + "group q by 3 at l2\n"));
            }
}

TEST_CASE("ideal transfers are the paper's") {
    CHECK_EQ(ideal_transfers(derived(kSoftmaxContraction)), polynomial("3qx + xd + qd"));
    CHECK_EQ(ideal_transfers(derived(kMatmul, "group a by 8\ngroup c by 16\nstream b by 5\n")),
             polynomial("abc(1/g_a + 1/g_c) + ac"));
    CHECK_EQ(ideal_transfers(derived(kMatmul, "group a by 8\ngroup c by 16\n")),
             polynomial("abc(1/g_a + 1/g_c) + ac"));
    const std::string sizes = "q = 29, x = 31, d = 5";
    CHECK_EQ(ideal_transfers(derived(attention(sizes, ""), kFlash)), polynomial("2qd + 2xqd/g_q"));
    CHECK_EQ(ideal_transfers(derived(attention(sizes, " weave h = 3\n"), kFlash)),
             polynomial("2hqd + 2hxqd/g_q"));
    const std::string grouped = attention(sizes, " weave h = 3\n weave g = 4 over Q\n");
    CHECK_EQ(
        ideal_transfers(derived(grouped, std::string(kFlash) + "ungroup g\ngroup g by 2 at l1\n")),
        polynomial("2hgqd + 2hgxqd/(g_q g_g)"));
}

TEST_CASE("ideal memory keeps the leading terms") {
    const auto memory = [](const State& state) {
        std::optional<Polynomial> most;
        std::int64_t values = -1;
        for (const RegionCost& region : test::cost(state).regions) {
            const Amount& amount = region.levels.at(Level::Block).memory;
            if (amount.values <= values) continue;
            values = amount.values;
            most = amount.ideal;
        }
        REQUIRE(most.has_value());
        return *most;
    };
    CHECK_EQ(memory(derived(kSoftmaxContraction)), polynomial("qx + xd"));
    CHECK_EQ(memory(derived(attention("q = 29, x = 31, d = 5", ""), kFlash)),
             polynomial("2g_q d + 2s_x d"));
}

}  // namespace
}  // namespace napkin
