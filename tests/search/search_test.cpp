// What search finds, for whole diagrams: it must replay, fit and beat what a person would try.
#include "search/search.h"

#include <doctest/doctest.h>

#include "tests/perfmodel/derive_support.h"

namespace napkin {
namespace {

Machine machine(const std::string& text) {
    SourceMap sources;
    const Result<Machine> result = load_machine(sources, text);
    REQUIRE_MESSAGE(result.has_value(), text);
    return *result;
}

const char* const kAttention =
    "diagram attention {\n axis q = 1024, x = 1024, d = 64\n"
    " input Q[q, d], K[x, d], V[x, d] : bf16\n"
    " S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n P[q, x] = softmax[x](S[q, x])\n"
    " output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n weave h = 16\n}\n";
const char* const kMatmul =
    "diagram matmul {\n axis a = 1024, b = 512, c = 1024\n input A[a, b], B[b, c] : bf16\n"
    " output C[a, c] : bf16 = sum(b) A[a, b] * B[b, c]\n}\n";
const char* const kSoftmax =
    "diagram rows {\n axis n = 2048, d = 1024\n input X[n, d] : f32\n"
    " output Y[n, d] = softmax[d](X[n, d])\n}\n";
const char* const kGrouped =
    "diagram grouped {\n axis q = 64, x = 1024, d = 64\n"
    " input Q[q, d], K[x, d], V[x, d] : bf16\n S[q, x] = sum(d) Q[q, d] * K[x, d]\n"
    " P[q, x] = softmax[x](S[q, x])\n output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n"
    " weave h = 64\n weave g = 4 over Q\n}\n";

/// Properties of every result: ranked, fitting, and its printed commands replay to its cost.
void check_result(const char* diagram, const SearchResult& result, const Machine& on) {
    REQUIRE_FALSE(result.ranked.empty());
    CHECK_GT(result.evaluated, 0);
    for (std::size_t i = 0; i < result.ranked.size(); ++i) {
        const Candidate& candidate = result.ranked[i];
        INFO(print(candidate, on));
        if (i > 0) CHECK_LE(result.ranked[i - 1].time.middle(), candidate.time.middle());
        for (const RegionCost& region : candidate.cost.regions)
            CHECK(excesses_of(region, on).empty());
        const State replayed = test::derived(diagram, print(candidate, on));
        CHECK_EQ(replayed.relabelling, candidate.state.relabelling);
        CHECK_EQ(test::cost(replayed).transferred.at(Level::Block).values,
                 candidate.cost.transferred.at(Level::Block).values);
    }
}

SearchResult found(const char* diagram, const Machine& on, std::size_t top = 3) {
    const State plain = test::derived(diagram);
    Result<SearchResult> result = search(plain.diagram, on, top);
    if (!result) FAIL(test::rendered(result.error(), SourceMap{}));
    check_result(diagram, *result, on);
    return std::move(*result);
}

bool fuses(const Candidate& candidate) {
    return candidate.state.relabelling.regions.size() == 1;
}
bool streams(const Candidate& candidate, const char* axis) {
    for (const Region& region : candidate.state.relabelling.regions)
        for (const Stream& stream : region.streams)
            if (candidate.state.diagram[stream.axis].name == axis) return true;
    return false;
}

TEST_CASE("attention is fused, grouped by queries and streamed over keys") {
    const Machine h200 = machine("H200");
    const SearchResult result = found(kAttention, h200);
    const Candidate& best = result.ranked.front();
    CHECK(fuses(best));
    CHECK(streams(best, "x"));
    const Cost by_hand = test::cost(
        test::derived(kAttention, "fuse S, P, O\ngroup q by 128 at l1\nstream x by 64 at l1\n"));
    CHECK_LE(best.time.middle(), time_of(by_hand, h200).middle());
}

TEST_CASE("matmul is grouped along both free axes") {
    const Machine h200 = machine("H200");
    const Candidate best = found(kMatmul, h200).ranked.front();
    const Cost by_hand = test::cost(test::derived(
        kMatmul, "group a by 128 at l1\ngroup c by 128 at l1\nstream b by 64 at l1\n"));
    CHECK_LE(best.time.middle(), time_of(by_hand, h200).middle());
}

TEST_CASE("a smaller memory costs more transfers and still fits") {
    const Machine large = machine("abstract2");
    const Machine small = machine("abstract2,block.capacity=16KiB");
    const auto moved = [](const SearchResult& result) {
        return result.ranked.front().cost.transferred.at(Level::Block).values;
    };
    CHECK_LT(moved(found(kMatmul, large)), moved(found(kMatmul, small)));
    CHECK_LT(moved(found(kAttention, large)), moved(found(kAttention, small)));
}

TEST_CASE("rows that fit stay whole; shared heads are grouped") {
    const SearchResult rows = found(kSoftmax, machine("H200"));
    CHECK_EQ(rows.ranked.front().cost.transferred.at(Level::Block).values, 2 * 2048 * 1024);
    const Candidate best = found(kGrouped, machine("abstract2")).ranked.front();
    bool grouped = false;
    for (const Command& command : best.commands)
        grouped = grouped || (command.rule == "ungroup" && command.names.front() == "g");
    CHECK(grouped);
}

TEST_CASE("what cannot fit is said") {
    const State plain = test::derived(kMatmul);
    const Result<SearchResult> result =
        search(plain.diagram, machine("abstract2,block.capacity=1B"));
    REQUIRE_FALSE(result.has_value());
    CHECK_EQ(result.error().list.front().message,
             "no derivation of `matmul` that was tried fits abstract2");
}

}  // namespace
}  // namespace napkin
