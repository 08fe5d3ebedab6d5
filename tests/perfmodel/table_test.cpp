// Cost tables, explanations and times of whole derivations, as goldens that were looked at.
#include "perfmodel/cost_table.h"

#include <doctest/doctest.h>

#include <map>

#include "perfmodel/explain.h"
#include "tests/golden.h"
#include "tests/perfmodel/derive_support.h"
#include "tests/support/examples.h"

namespace napkin {
namespace {

using test::derived;

const char* const kHeads =
    "diagram attention {\n axis q = 4096, x = 4096, d = 128\n"
    " input Q[q, d], K[x, d], V[x, d] : bf16\n"
    " S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n P[q, x] = softmax[x](S[q, x])\n"
    " output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n weave b = 4, h = 16\n}\n";
const char* const kTiled = "fuse S, P, O\ngroup q by 128 at l1\nstream x by 64 at l1\n";

TEST_CASE("the table of attention, unfused and fused") {
    const Machine h200 = test::machine_of("H200");
    test::check_golden("perfmodel/attention-unfused.txt",
                       print_table(test::cost(derived(kHeads)), &h200));
    test::check_golden("perfmodel/attention-fused.txt",
                       print_table(test::cost(derived(kHeads, kTiled)), &h200));
    const Machine two = test::machine_of("abstract2");
    test::check_golden("perfmodel/attention-abstract.txt",
                       print_table(test::cost(derived(kHeads, kTiled)), &two));
}

TEST_CASE("explanations name what is loaded again and why") {
    struct Case {
        const char* diagram;
        const char* derivation;
        std::vector<std::string> sentences;
    };
    const Case cases[] = {
        {kHeads, kTiled, {"K and V lack q: each of 32 groups loads them"}},
        {"diagram matmul {\n axis a = 64, b = 32, c = 48\n input A[a, b], B[b, c] : bf16\n"
         " output C[a, c] = sum(b) A[a, b] * B[b, c]\n}\n",
         "group a by 16\ngroup c by 16\nstream b by 8\n",
         {"A lacks c: each of 3 groups loads it", "B lacks a: each of 4 groups loads it"}},
        {"diagram copy {\n axis a = 64\n input A[a] : f32\n output C[a] = A[a] + 1\n}\n",
         "group a by 16\n",
         {"every array is loaded once"}},
        {"diagram conv {\n axis p = 64, r = 3, n = p + r - 1\n input X[n], W[r] : f32\n"
         " output Y[p] = sum(r) X[p + r] * W[r]\n}\n",
         "group p by 16\n",
         {"W lacks p: each of 4 groups loads it",
          "tiles of X overlap: neighbours load the shared part again"}},
        {"diagram causal {\n axis q = 64, x = 64\n input S[q, x], V[x] : f32\n"
         " P[q, x] = softmax[x](if x <= q then S[q, x] else -inf)\n"
         " output O[q] = sum(x) P[q, x] * V[x]\n}\n",
         "fuse P, O\ngroup q by 16\nstream x by 16\n",
         {"V lacks q: each of 4 groups loads it",
          "the mask leaves 10 of 16 chunks to visit: numbers count these, formulas all"}},
        {"diagram long {\n axis q = 4096, x = 4096\n input S[q, x], V[x] : f32\n"
         " P[q, x] = softmax[x](if x <= q then S[q, x] else -inf)\n"
         " output O[q] = sum(x) P[q, x] * V[x]\n}\n",
         "fuse P, O\ngroup q by 1\nstream x by 256\n",
         {"V lacks q: each of 4,096 groups loads it",
          "the mask leaves 34,816 of 65,536 chunks to visit: numbers count these, formulas all"}},
    };
    for (const Case& c : cases) {
        const State state = derived(c.diagram, c.derivation);
        const RegionCost region = test::cost(state).regions.back();
        CHECK_EQ(explain_transfers(region, state.diagram.axes), c.sentences);
    }
}

TEST_CASE("a form beside a number gives it, or says how it does not") {
    std::vector<std::pair<std::string, Cost>> costs;
    for (const test::Example& each : test::all_examples())
        costs.emplace_back(each.name, test::cost(derived(each.diagram, each.derivation)));
    costs.emplace_back("attention of 4097", test::cost(derived(kHeads, kTiled, {{"q", 4097}})));
    std::map<std::string, int> seen;  // by signs
    for (const auto& [name, cost] : costs)
        for (const RegionCost& region : cost.regions)
            for (const auto& [level, held] : region.levels)
                for (const Amount* amount : {&held.transferred, &held.memory, &held.allocated}) {
                    const std::string text = text_beside_number(*amount, region);
                    INFO(name, ", ", region.name, ": ", amount->values, " ", text);
                    CHECK_EQ(evaluate_integer(amount->formula, region.sizes), amount->values);
                    if (!amount->ideal) continue;
                    const auto number = static_cast<double>(amount->values);
                    const double form = evaluate(*amount->ideal, region.sizes);
                    const std::string sign = text.ends_with(" + …")   ? "…"
                                             : text.starts_with("≤ ") ? "≤"
                                             : text.starts_with("≥ ") ? "≥"
                                                                      : "=";
                    ++seen[sign];
                    if (sign == "=") CHECK_EQ(form, doctest::Approx(number).epsilon(1e-9));
                    if (sign == "≤") CHECK_LT(number, form);
                    if (sign == "≥") CHECK_GT(number, form);
                    if (sign == "…") CHECK_EQ(amount, &held.memory);
                    if (sign == "…") CHECK_LT(form, number);
                }
    for (const char* sign : {"=", "≤", "≥", "…"}) CHECK_MESSAGE(seen[sign] > 0, std::string(sign));
    CHECK_GT(seen["="], seen["≤"] + seen["≥"]);
}

TEST_CASE("times are intervals, and what does not fit is said") {
    const Cost fused = test::cost(derived(kHeads, kTiled));
    const Machine h200 = test::machine_of("H200");
    const TimeEstimate time = time_of(fused, h200);
    CHECK_LT(time.low, time.high);
    CHECK_EQ(time.busiest, "tensor core bf16");
    CHECK_EQ(time.second, "cache");
    CHECK_EQ(time.waves, 16);
    CHECK_LT(time.middle(), time_of(test::cost(derived(kHeads)), h200).middle());
    const Machine two = test::machine_of("abstract2");
    CHECK_EQ(time_of(fused, two).low, time_of(fused, two).high);
    CHECK(excesses_of(fused.regions.front(), h200).empty());
    const std::vector<Excess> excesses =
        excesses_of(fused.regions.front(), test::machine_of("H200,block.capacity=96KiB"));
    REQUIRE_EQ(excesses.size(), 1);
    CHECK_EQ(describe(excesses.front()), "A of `O` is 182 kB at block, which has 98.3 kB");
}

TEST_CASE("texts of amounts have three digits") {
    CHECK_EQ(text_of(Bytes{69206016}), "69.2 MB");
    CHECK_EQ(text_of(Bytes{999}), "999 B");
    CHECK_EQ(text_of(Bytes{1000}), "1.00 kB");
    CHECK_EQ(text_of(Bytes{999600}), "1.00 MB");
    CHECK_EQ(text_of(Seconds{1.5e-5}), "15 us");
}

}  // namespace
}  // namespace napkin
