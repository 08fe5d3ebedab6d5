// Tilings that search finds beside all that there are, each derived and costed by itself.
#include "search/tilings.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "search/kernels.h"
#include "tests/search/search_support.h"

namespace napkin {
namespace {

Command sized(const char* rule, const std::string& axis, std::int64_t size) {
    Command command;
    command.rule = rule;
    command.names = {axis};
    command.size = size;
    return command;
}

/// The least time of every choice of group sizes and of one streamed axis with every chunk size.
class AllTilings {
public:
    AllTilings(const State& plain, const Machine& machine) : machine_(machine) {
        group(plain, 0);
        for (const Axis& axis : plain.diagram.axes)
            for (const std::int64_t size : {128, 64, 32, 16, 8, 1})
                if (size < axis.extent || axis.extent == 1)
                    if (auto state = after(plain, {sized("stream", axis.name, size)}))
                        group(*state, 0);
    }
    [[nodiscard]] Seconds best() const { return best_; }
    [[nodiscard]] int tried() const { return tried_; }

private:
    void group(const State& state, std::size_t from) {
        if (from == state.diagram.axes.size()) return note(state);
        group(state, from + 1);
        const Axis& axis = state.diagram.axes[from];
        for (const std::int64_t size : {1, 2, 4, 8, 16, 32, 48, 64, 96, 128})
            if (size < axis.extent)
                if (auto next = after(state, {sized("group", axis.name, size)}))
                    group(*next, from + 1);
    }
    void note(const State& state) {
        const Result<RegionProgram> program =
            expand(state, state.relabelling.regions.front(), OpaqueBoxes::Keep);
        REQUIRE(program.has_value());
        const Result<RegionCost> cost = quick_cost_of(*program);
        REQUIRE(cost.has_value());
        ++tried_;
        if (excesses_of(*cost, machine_).empty())
            best_ = std::min(best_, time_of(*cost, machine_).middle());
    }

    const Machine& machine_;
    Seconds best_{std::numeric_limits<double>::infinity()};
    int tried_ = 0;
};

TEST_CASE("the best tiling is the best of all of them, on twenty small spaces") {
    const char* const diagrams[] = {
        "axis a = 64, b = 40, c = 48\n input A[a, b], B[b, c] : bf16\n"
        " output C[a, c] : bf16 = sum(b) A[a, b] * B[b, c]",
        "axis a = 100, b = 256, c = 17\n input A[a, b], B[b, c] : f32\n"
        " output C[a, c] = sum(b) A[a, b] * B[b, c]",
        "axis n = 96, d = 130\n input X[n, d] : f32\n output Y[n, d] = softmax[d](X[n, d])",
        "axis n = 96, d = 130\n input X[n, d] : bf16\n output Y[n] = sum(d) X[n, d] * X[n, d]",
        "axis q = 64, x = 96, d = 16, e = d\n input Q[q, d], K[x, d], V[x, e] : bf16\n"
        " S[q, x] = sum(d) Q[q, d] * K[x, d]\n P[q, x] = softmax[x](S[q, x])\n"
        " output O[q, e] : bf16 = sum(x) P[q, x] * V[x, e]",
        "axis q = 64, x = 64, d = 16, e = d\n input Q[q, d], K[x, d], V[x, e] : bf16\n"
        " S[q, x] = if x <= q then sum(d) Q[q, d] * K[x, d] else -inf\n"
        " P[q, x] = softmax[x](S[q, x])\n"
        " output O[q, e] : bf16 = sum(x) P[q, x] * V[x, e]",
        "axis n = 64, r = 5, p = n + r - 1, c = 8\n input X[p, c], W[r, c]\n"
        " output Y[n, c] = sum(r) X[n + r, c] * W[r, c]",
        "axis n = 48, v = 70, d = 20\n input E[v, d]\n input label[n] : i32\n"
        " output Y[n, d] = 2 * E[label[n], d]",
        "axis n = 64, d = 32, c = 40\n input X[n, d], G[d], W[d, c] : bf16\n"
        " N[n, d] = rmsnorm[d](X[n, d], G[d], 1e-6)\n"
        " output Y[n, c] : bf16 = sum(d) N[n, d] * W[d, c]",
        "axis a = 33, c = 80\n input X[a, c], Z[c, a]\n output Y[a, c] = X[a, c] + Z[c, a]"};
    const Machine h200 = test::machine_of("H200");
    const Machine small = test::machine_of("abstract2,block.capacity=3KiB");
    for (const char* const diagram : diagrams) {
        const std::string text = "diagram small {\n " + std::string(diagram) + "\n}\n";
        INFO(text);
        const State plain = test::derived(text);
        const State state =
            plain.relabelling.regions.size() == 1 ? plain : test::derived(text, "fuse all\n");
        for (const Machine* machine : {&h200, &small}) {
            const AllTilings all(state, *machine);
            CHECK_GT(all.tried(), 10);
            TilingCounts counts;
            const std::string name = region_name(state.diagram, state.relabelling.regions.front());
            const auto found = best_tilings(state, name, *machine, 1, counts);
            REQUIRE_FALSE(found.empty());
            CHECK_EQ(found.front().time.value, doctest::Approx(all.best().value).epsilon(1e-9));
        }
    }
}

}  // namespace
}  // namespace napkin
