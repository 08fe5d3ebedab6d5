// Searches that are stopped: what they have is sane from the start, and more time makes it no
// worse.
#include <doctest/doctest.h>

#include <limits>

#include "tests/search/search_support.h"

namespace napkin {
namespace {

const char* const kGatedUnit =
    "diagram gated {\n axis n = 2048, d = 1024, f = 4096, e = d\n input X[n, d] : bf16\n"
    " input W[d, f], V[d, f], U[f, e] : bf16\n G[n, f] = sum(d) X[n, d] * W[d, f]\n"
    " H[n, f] = sum(d) X[n, d] * V[d, f]\n A[n, f] : bf16 = silu(G[n, f]) * H[n, f]\n"
    " output Y[n, e] : bf16 = sum(f) A[n, f] * U[f, e]\n}\n";
const char* const kMasked =
    "diagram attention {\n axis q = 1024, x = q, d = 64\n input Q[q, d], K[x, d], V[x, d] : bf16\n"
    " S[q, x] = sum(d) Q[q, d] * K[x, d]\n M[q, x] = if x <= q then S[q, x] else -inf\n"
    " P[q, x] = softmax[x](M[q, x])\n output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n"
    " weave h = 16\n}\n";

const char* const kBiased =
    "diagram biased {\n axis q = 2048, x = 2048, d = 64, r = 512\n"
    " input Q[q, d], K[x, d], V[x, d] : bf16\n input bias[r] : f32\n"
    " S[q, x] = sum(d) Q[q, d] * K[x, d] + bias[min(max(q - x, 0), size(r) - 1)]\n"
    " P[q, x] = softmax[x](S[q, x])\n output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n}\n";

/// Seconds of what is found until the clock is asked so often.
double found_after(const char* diagram, const Machine& on, std::size_t most) {
    std::size_t asked = 0;
    SearchOptions options;
    options.deadline = Deadline([most, &asked] { return asked++ >= most; });
    const Result<SearchResult> result = search(test::derived(diagram).diagram, on, options);
    REQUIRE(result.has_value());
    return result->ranked.front().time.middle().value;
}

TEST_CASE("a search that is stopped at once has sane tiles of every statement") {
    // Kernels of single statements, against fused ones: not those whose tiles are single elements,
    // which take hundreds of times as long.
    constexpr double kSane = 12;
    const Machine h200 = test::machine_of("H200");
    for (const char* const diagram : {kGatedUnit, kMasked, kBiased}) {
        INFO(std::string(diagram));
        CHECK_LT(found_after(diagram, h200, 0), kSane * test::best_time(diagram, h200));
    }
}

TEST_CASE("what a search has is no worse where it is stopped later") {
    const Machine h200 = test::machine_of("H200");
    for (const char* const diagram : {kGatedUnit, kMasked}) {
        double before = std::numeric_limits<double>::infinity();
        for (const std::size_t most : {0, 3, 30, 200, 800, 3200}) {
            INFO(std::string(diagram), most);
            const double time = found_after(diagram, h200, most);
            CHECK_LE(time, before);
            before = time;
        }
        CHECK_LE(test::best_time(diagram, h200), before);
    }
}

}  // namespace
}  // namespace napkin
