// What search finds, for whole diagrams: it must replay, fit and beat what a person would try.
#include "search/search.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "search/recomputations.h"
#include "search/starts.h"
#include "tests/search/search_support.h"

namespace napkin {
namespace {

using test::kernels_time;
using test::machine_of;

const char* const kAttention =
    "diagram attention {\n axis q = 1024, x = 1024, d = 64\n"
    " input Q[q, d], K[x, d], V[x, d] : bf16\n"
    " S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))\n P[q, x] = softmax[x](S[q, x])\n"
    " output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n weave h = 16\n}\n";
const char* const kMatmul =
    "diagram matmul {\n axis a = 1024, b = 512, c = 1024\n input A[a, b], B[b, c] : bf16\n"
    " output C[a, c] : bf16 = sum(b) A[a, b] * B[b, c]\n}\n";
const char* const kLargeMatmul =
    "diagram matmul {\n axis a = 4096, b = 4096, c = 4096\n input A[a, b], B[b, c] : bf16\n"
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
    Result<SearchResult> result = search(plain.diagram, on, {.top = top});
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
    const Machine h200 = machine_of("H200");
    const SearchResult result = found(kAttention, h200);
    const Candidate& best = result.ranked.front();
    CHECK(fuses(best));
    CHECK(streams(best, "x"));
    CHECK_LE(best.time.middle(),
             kernels_time(kAttention, "fuse all\ngroup q by 128\nstream x by 64\n", h200));
}

TEST_CASE("matmul is grouped along both free axes") {
    const Machine h200 = machine_of("H200");
    const Candidate best = found(kMatmul, h200).ranked.front();
    CHECK_LE(best.time.middle(),
             kernels_time(kMatmul, "group a by 128\ngroup c by 128\nstream b by 64\n", h200));
}

TEST_CASE("a kernel is listed once: an axis that one tile holds is not grouped") {
    const SearchResult result = found(
        "diagram wide {\n axis q = 1024, x = 1024, d = 64, e = 128\n"
        " input Q[q, d], K[x, d], V[x, e] : bf16\n S[q, x] = sum(d) Q[q, d] * K[x, d]\n"
        " P[q, x] = softmax[x](S[q, x])\n output O[q, e] : bf16 = sum(x) P[q, x] * V[x, e]\n"
        " weave h = 16\n}\n",
        machine_of("H200"), 20);
    std::set<std::string> listed;
    for (const Candidate& candidate : result.ranked) {
        std::string commands;
        for (const Command& command : candidate.commands) commands += print(command) + "\n";
        INFO(commands);
        CHECK(listed.insert(commands).second);
        for (const Region& region : candidate.state.relabelling.regions)
            for (const Group& group : region.groups)
                CHECK_LT(group.size, candidate.state.diagram[group.axis].extent);
    }
}

TEST_CASE("a smaller memory costs more transfers and still fits") {
    const Machine large = machine_of("abstract2");
    const Machine small = machine_of("abstract2,block.capacity=16KiB");
    const auto moved = [](const SearchResult& result) {
        return result.ranked.front().cost.transferred.at(Level::Block).values;
    };
    CHECK_LT(moved(found(kMatmul, large)), moved(found(kMatmul, small)));
    CHECK_LT(moved(found(kAttention, large)), moved(found(kAttention, small)));
}

TEST_CASE("rows that fit stay whole; shared heads are grouped") {
    const SearchResult rows = found(kSoftmax, machine_of("H200"));
    CHECK_EQ(rows.ranked.front().cost.transferred.at(Level::Block).values, 2 * 2048 * 1024);
    const Candidate best = found(kGrouped, machine_of("abstract2")).ranked.front();
    bool grouped = false;
    for (const Command& command : best.commands)
        grouped = grouped || (command.rule == "ungroup" && command.names.front() == "g");
    CHECK(grouped);
}

TEST_CASE("candidates are timed as the kernels that the machine's target makes of them") {
    struct Known {
        const char* diagram;
        const char* steps;  ///< what is known to be fast
        std::int64_t groups;
        const char* machine;
    };
    for (const Known& known :
         {Known{kLargeMatmul, "group a by 128\ngroup c by 256\nstream b by 64\n", 1, "H200"},
          Known{kAttention, "fuse all\ngroup q by 128\nstream x by 128\n", 1, "H200"},
          Known{kMatmul, "group a by 128\ngroup c by 128\nstream b by 64\n", 0, "A100"}}) {
        INFO(known.steps, known.machine);
        const Machine on = machine_of(known.machine);
        const SearchResult result = found(known.diagram, on);
        const Candidate& best = result.ranked.front();
        REQUIRE(best.cost.regions.front().work);
        CHECK(best.cost.regions.front().work->tensor_core);
        CHECK_EQ(best.cost.regions.front().work->groups > 0, known.groups > 0);
        CHECK_GT(result.kernels, 20);
        CHECK_LE(best.time.middle(), kernels_time(known.diagram, known.steps, on));
        CHECK_EQ(best.time.middle(), kernels_time(known.diagram, print(best, on).c_str(), on));
    }
}

TEST_CASE("a sum that lacks the rows is computed once, where that is faster") {
    const Machine on = machine_of("H200");
    const char* const shifted =
        "diagram shifted {\n axis n = 4096, d = 4096, c = 4096\n"
        " input X[n, d], shift[d], W[c, d] : bf16\n"
        " output Y[n, c] : bf16 = sum(d) (X[n, d] + shift[d]) * W[c, d]\n}\n";
    const SearchResult result = found(shifted, on);
    const Candidate& best = result.ranked.front();
    REQUIRE_FALSE(best.commands.empty());
    CHECK_EQ(best.commands.front().rule, "distribute");
    CHECK_LT(best.time.middle(),
             kernels_time(shifted, "group n by 192\ngroup c by 176\nstream d by 144\n", on));
    // No other start is worth a search where no such sum comes out.
    CHECK_EQ(starts_of(test::derived(kAttention).diagram).size(), 1);
    const std::vector<Start> starts = starts_of(test::derived(shifted).diagram);
    REQUIRE_EQ(starts.size(), 3);
    CHECK_EQ(starts[1].commands.front().rule, "extract");
    CHECK_EQ(starts[2].commands.front().rule, "distribute");
}

TEST_CASE("squares of distances are multiplied out where a product of matrices comes of them") {
    const auto distances = [](const char* type, const char* value, const char* use) {
        return fmt::format(
            "diagram distances {{\n axis i = 4096, j = 4096, d = 64, l = i\n"
            " input X[i, d], Y[j, d], w[d] : {}\n output F[i] : f32 = {}\n}}\n",
            type, fmt::format(fmt::runtime(use), fmt::format("(sum(d) {})", value)));
    };
    const char* const kRadial = "sum(j) exp(-{})";
    const char* const kSquare = "(X[i, d] - Y[j, d]) ^ 2";
    struct Case {
        std::string diagram;
        bool multiplied;
    };
    const std::vector<Case> cases = {
        {distances("bf16", kSquare, kRadial), true},
        {distances("f32", kSquare, kRadial), true},
        {distances("f32", kSquare, "argmin(j) {}"), true},
        {distances("f32", "w[d] * (X[i, d] - Y[j, d]) ^ 2", kRadial), true},
        {distances("bf16", "(X[i, d] - Y[j, d]) * (X[i, d] + Y[j, d])", kRadial), true},
        // w * X would be rounded before it is multiplied, and the norms not.
        {distances("bf16", "w[d] * (X[i, d] - Y[j, d]) ^ 2", kRadial), false},
        // No product of matrices comes of these.
        {distances("f32", "(X[i, d] - w[d]) ^ 2", "{}"), false},
        {distances("f32", "(X[i, d] - 3) ^ 2", "{}"), false},
        {distances("f32", "abs(X[i, d] - Y[j, d])", kRadial), false},
        {distances("i32", kSquare, "min(j) {}"), false},
    };
    const auto multiplies = [](const Start& start) {
        return !start.commands.empty() && start.commands.front().rule == "distribute";
    };
    for (const auto& [diagram, multiplied] : cases) {
        INFO(diagram);
        const std::vector<Start> starts = starts_of(test::derived(diagram).diagram);
        CHECK_EQ(std::any_of(starts.begin(), starts.end(), multiplies), multiplied);
    }
    // All of them at once: distances within two sets of points and between them.
    const std::vector<Start> starts =
        starts_of(test::derived("diagram three {\n axis i = 1024, j = 1024, d = 64, l = i, m = j\n"
                                " input X[i, d], Y[j, d] : bf16\n"
                                " output A[i] = sum(l) exp(-sum(d) (X[i, d] - X[l, d]) ^ 2)\n"
                                " output B[j] = sum(m) exp(-sum(d) (Y[j, d] - Y[m, d]) ^ 2)\n"
                                " output C[i] = sum(j) exp(-sum(d) (X[i, d] - Y[j, d]) ^ 2)\n}\n")
                      .diagram);
    REQUIRE_EQ(std::count_if(starts.begin(), starts.end(), multiplies), 1);
    CHECK_EQ(std::count_if(starts.back().commands.begin(), starts.back().commands.end(),
                           [](const Command& each) { return each.rule == "distribute"; }),
             3);
    const Machine on = machine_of("H200");
    const Candidate best = found(cases.front().diagram.c_str(), on).ranked.front();
    CHECK_EQ(best.commands.front().rule, "distribute");
    CHECK_LT(
        5 * best.time.middle().value,
        kernels_time(cases.front().diagram.c_str(), "fuse all\ngroup i by 128\nstream j by 1\n", on)
            .value);
}

TEST_CASE("what several regions fold and none keeps may be computed again by one of them") {
    const auto printed = [](const std::string& text) {
        std::string all;
        for (const std::vector<Command>& commands :
             recomputations(initial_state(test::derived(text).diagram)))
            for (const Command& command : commands) all += print(command) + "\n";
        return all;
    };
    const std::string two =
        "diagram two {\n axis i = 4096, k = 64, j = 4096, c = 64\n"
        " input A[i, k], B[j, k], C[i, c] : bf16\n S[i, j] = exp(sum(k) A[i, k] * B[j, k])\n"
        " output R[i] = sum(j) S[i, j]\n output D[j, c] = sum(i) S[i, j] * C[i, c]\n"
        " output E[j] = sum(i) S[i, j]\n}\n";
    CHECK_EQ(printed(two), "recompute S in R\nfuse D, E\nrecompute S in E\n");
    // The scores of one reader need no second computation, and small arrays are kept.
    CHECK_EQ(printed(kAttention), "");
    CHECK_EQ(
        printed("diagram small {\n axis i = 64, k = 4096\n input A[i, k] : bf16\n"
                " S[i] = sum(k) A[i, k]\n output R[i] = S[i] + 1\n output D = sum(i) S[i]\n}\n"),
        "");
}

TEST_CASE("streams run in parts where blocks are few") {
    const Machine on = machine_of("H200");
    const char* const few =
        "diagram few {\n axis a = 64, b = 65536, c = 128\n input A[a, b], B[b, c] : bf16\n"
        " output C[a, c] : bf16 = sum(b) A[a, b] * B[b, c]\n}\n";
    const Candidate best = found(few, on).ranked.front();
    CHECK(std::any_of(best.commands.begin(), best.commands.end(),
                      [](const Command& each) { return each.rule == "split-stream"; }));
    CHECK_LT(3 * best.time.middle().value,
             kernels_time(few, "group a by 64\ngroup c by 128\nstream b by 128\n", on).value);
}

TEST_CASE("sizes are changed one at a time from a rough tiling, past the sizes that it came from") {
    const Machine on = machine_of("H200");
    const State plain = test::derived(kLargeMatmul);
    const auto sized = [](const char* rule, const char* axis, std::int64_t size) {
        Command command;
        command.rule = rule;
        command.names = {axis};
        command.size = size;
        return command;
    };
    const std::vector<Tiling> rough = {
        {{sized("group", "a", 64), sized("group", "c", 64), sized("stream", "b", 32)}, {}, 0, 0}};
    const Serves any;
    KernelCounts counts;
    const std::vector<Tiling> best =
        best_kernels(plain, "C", rough, {on, kernels_for(on, ""), any}, 3, counts);
    REQUIRE_EQ(best.size(), 3);
    CHECK_LT(
        best.front().time,
        0.7 * kernels_time(kLargeMatmul, "group a by 64\ngroup c by 64\nstream b by 32\n", on));
    CHECK_LE(best[0].time, best[1].time);
    CHECK_EQ(counts.not_served, 0);
    const Serves none = [](const State&, const RegionProgram&) { return false; };
    CHECK(best_kernels(plain, "C", rough, {on, kernels_for(on, ""), none}, 3, counts).empty());
    CHECK_GT(counts.not_served, 3);
}

TEST_CASE("what is searched does not depend on how many are wanted") {
    const State plain = test::derived(kMatmul);
    const Machine h200 = machine_of("H200");
    // A target that takes no large groups, and so not the fastest.
    const auto serves = [](const State& state, const RegionProgram&) {
        const std::vector<Group>& groups = state.relabelling.regions.front().groups;
        return std::all_of(groups.begin(), groups.end(),
                           [&](const Group& group) { return group.size <= 96; });
    };
    const Result<SearchResult> one = search(plain.diagram, h200, {.top = 1, .serves = serves});
    const Result<SearchResult> many = search(plain.diagram, h200, {.top = 50, .serves = serves});
    REQUIRE(one.has_value());
    REQUIRE(many.has_value());
    CHECK_EQ(one->evaluated, many->evaluated);
    CHECK_EQ(one->not_served, many->not_served);
    CHECK_EQ(one->ranked.front().commands, many->ranked.front().commands);
    CHECK_GT(many->ranked.size(), 1);
}

/// Past once it was asked so often; counts.
Deadline after_asking(std::size_t most, std::size_t& asked) {
    return Deadline([most, &asked] { return asked++ >= most; });
}

TEST_CASE("a search that is stopped gives what it has, and says what it has not searched") {
    const char* const chain =
        "diagram chain {\n axis a = 1024, b = 512, c = 1024, e = 256\n"
        " input A[a, b], B[b, c], C[c, e] : bf16\n D[a, c] = sum(b) A[a, b] * B[b, c]\n"
        " output E[a, e] : bf16 = sum(c) D[a, c] * C[c, e]\n}\n";
    const State plain = test::derived(chain);
    const Machine h200 = machine_of("H200");
    const Result<SearchResult> all = search(plain.diagram, h200);
    REQUIRE(all.has_value());
    CHECK_FALSE(all->stopped);
    CHECK_EQ(all->searched, 3);
    CHECK_EQ(all->regions, 3);
    // Whenever that is, before the first question and in the middle of a kernel's.
    for (const std::size_t most : {0, 1, 2, 5, 20, 100, 500}) {
        CAPTURE(most);
        std::size_t asked = 0;
        const Result<SearchResult> some =
            search(plain.diagram, h200, {.deadline = after_asking(most, asked)});
        REQUIRE(some.has_value());
        CHECK(some->stopped);
        check_result(chain, *some, h200);
        CHECK_LE(some->kernels, all->kernels);
        CHECK_LE(all->ranked.front().time.middle(), some->ranked.front().time.middle());
    }
    std::size_t asked = 0;
    const Result<SearchResult> none =
        search(plain.diagram, h200, {.deadline = after_asking(0, asked)});
    REQUIRE(none.has_value());
    CHECK_EQ(none->searched, 0);
    CHECK_EQ(none->kernels, 0);
    const Result<SearchResult> nothing =
        search(plain.diagram, machine_of("abstract2,block.capacity=1B"),
               {.deadline = after_asking(0, asked)});
    REQUIRE_FALSE(nothing.has_value());
    CHECK_EQ(nothing.error().list.front().code, "E0934");
}

TEST_CASE("nor does a search that is stopped give what no target makes") {
    const State plain = test::derived(kMatmul);
    const Serves none = [](const State&, const RegionProgram&) { return false; };
    std::size_t asked = 0;
    CHECK_FALSE(search(plain.diagram, machine_of("H200"),
                       {.serves = none, .deadline = after_asking(0, asked)})
                    .has_value());
}

TEST_CASE("parts of a sum are shorter than it") {
    for (const char* const sizes : {"n = 16384, c = 4096", "n = 131072, c = 256"}) {
        const std::string sums = fmt::format(
            "diagram sums {{\n axis {}\n input G[n, c] : bf16\n"
            " output B[c] : f32 = sum(n) G[n, c]\n}}\n",
            sizes);
        const SearchResult result = found(sums.c_str(), machine_of("H200"), 10);
        const State plain = test::derived(sums);
        const std::int64_t extent = plain.diagram[*find_axis(plain.diagram, "n")].extent;
        for (const Candidate& candidate : result.ranked)
            for (const Command& command : candidate.commands)
                if (command.rule == "split-stream") CHECK_LT(*command.size, extent);
    }
}

TEST_CASE("past its deadline a search asks the clock a few times more") {
    const State plain = test::derived(kAttention);
    std::size_t asked = 0;
    constexpr std::size_t kPast = 20;
    const Result<SearchResult> result =
        search(plain.diagram, machine_of("H200"), {.deadline = after_asking(kPast, asked)});
    REQUIRE(result.has_value());
    CHECK(result->stopped);
    CHECK_LT(asked, kPast + 200);
}

TEST_CASE("sixty statements take seconds") {
    std::string text = "diagram dense {\n axis b = 4096";
    for (int i = 0; i <= 60; ++i) text += ", d" + std::to_string(i) + " = 1024";
    text += "\n input Y0[b, d0] : bf16\n";
    for (int i = 1; i <= 60; ++i) {
        const std::string n = std::to_string(i);
        const std::string last = std::to_string(i - 1);
        text += " input W" + n + "[d" + last + ", d" + n + "] : bf16\n";
        text += (i == 60 ? " output Y" : " Y") + n + "[b, d" + n + "] : bf16 = sum(d" + last +
                ") Y" + last + "[b, d" + last + "] * W" + n + "[d" + last + ", d" + n + "]\n";
    }
    const auto start = std::chrono::steady_clock::now();
    const State plain = test::derived((text + "}\n").c_str());
    const Result<SearchResult> result = search(plain.diagram, machine_of("H200"), {.top = 1});
    REQUIRE(result.has_value());
    CHECK_EQ(result->searched, result->regions);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    CHECK_LT(spent.count(), 300);  // minutes in a slow build; what grows with every cut takes days
}

TEST_CASE("powers cost what kernels do: products, a root, or a logarithm and an exponential") {
    const auto costs = [](const std::string& exponent) {
        const std::string text =
            "diagram p {\n axis n = 8\n input X[n] : f32\n output Y[n] = X[n] ^ " + exponent +
            "\n}\n";
        const Cost cost = test::cost(test::derived(text.c_str()));
        return std::pair(cost.operations / 8, cost.exponentials / 8);
    };
    using Costs = std::pair<std::int64_t, std::int64_t>;
    CHECK_EQ(costs("2"), Costs{1, 0});
    CHECK_EQ(costs("3"), Costs{2, 0});
    CHECK_EQ(costs("1"), Costs{0, 0});
    CHECK_EQ(costs("8"), Costs{3, 0});
    CHECK_EQ(costs("100"), Costs{8, 0});
    CHECK_EQ(costs("(-1)"), Costs{1, 0});
    CHECK_EQ(costs("(-2)"), Costs{2, 0});
    CHECK_EQ(costs("0.5"), Costs{0, 1});
    CHECK_EQ(costs("(-0.5)"), Costs{0, 1});
    CHECK_EQ(costs("1.7"), Costs{0, 2});
}

TEST_CASE("rows longer than a block can hold are reduced before their results are computed") {
    for (const char* row : {"softmax[v](X[n, v])", "layernorm[v](X[n, v], 1, 0, 0.00001)"}) {
        INFO(row);
        const std::string diagram = fmt::format(
            "diagram rows {{\n axis n = 4096, v = 131072\n input X[n, v] : f32\n"
            " output Y[n, v] : f32 = {}\n}}\n",
            row);
        const SearchResult result = found(diagram.c_str(), machine_of("H200"), 1);
        CHECK_EQ(print(result.ranked.front().commands.front()), "unfuse Y");
    }
}

TEST_CASE("rows that registers do not hold are read twice where that is faster") {
    for (const auto& [type, first] :
         {std::pair("f32", "unfuse Y"), {"bf16", "group n by 1 at l1"}}) {
        INFO(type);
        const std::string diagram = fmt::format(
            "diagram rows {{\n axis n = 2048, v = 50257\n input X[n, v] : {}\n"
            " output Y[n, v] : {} = softmax[v](X[n, v])\n}}\n",
            type, type);
        const SearchResult result = found(diagram.c_str(), machine_of("H100"), 1);
        CHECK_EQ(print(result.ranked.front().commands.front()), first);
    }
}

TEST_CASE("an axis is split where parts of its index are told apart, and that is faster") {
    const SearchResult result = found(
        "diagram scaled {\n axis m = 64, n = 8192, k = 8192, g = k // 64\n"
        " input X[m, k] : bf16, W[n, k] : i4, c[n, g] : bf16\n"
        " output Y[m, n] : bf16 = sum(k) X[m, k] * W[n, k] * c[n, k // 64]\n}\n",
        machine_of("H200"), 1);
    CHECK_EQ(print(result.ranked.front().commands.front()), "split-axis k as k_in by 64");
}

TEST_CASE("what all sides of a product have is laid out outermost, where that is faster") {
    const SearchResult result = found(
        "diagram triangle {\n axis i = 512, j = 512, k = 512, c = 128\n"
        " input A[i, k, c], B[j, k, c] : bf16\n"
        " output O[i, j, c] : bf16 = sum(k) A[i, k, c] * B[j, k, c]\n}\n",
        machine_of("H200"), 1);
    CHECK_EQ(print(result.ranked.front().commands.front()), "layout A[c, i, k] as A_laid");
}

TEST_CASE("a structure whose first sizes are far behind is tried at others") {
    const char* diagram =
        "diagram image {\n axis n = 64, c = 3, y = 512, x = 512\n input X[n, y, x, c] : i8\n"
        " input m[c], s[c] : f32\n"
        " output Y[n, c, y, x] : f16 = (X[n, y, x, c] / 255.0 - m[c]) * s[c]\n}\n";
    const Machine h200 = machine_of("H200");
    CHECK_LE(found(diagram, h200, 1).ranked.front().time.middle(),
             kernels_time(diagram, "group n by 1\ngroup y by 1\n", h200));
}

TEST_CASE("where a mask leaves tiles of several axes, all of these are streamed") {
    const char* diagram =
        "diagram near {\n axis i = 128, j = 128, d = 64, u = i, v = j\n"
        " input Q[i, j, d], K[u, v, d], V[u, v, d] : bf16\n"
        " S[i, j, u, v] = sum(d) Q[i, j, d] * K[u, v, d]\n"
        " M[i, j, u, v] = if neighbourhood[i, u](16, 1, 1) and neighbourhood[j, v](16, 1, 1) then"
        " S[i, j, u, v] else -inf\n"
        " output O[i, j, d] : bf16 = sum(u, v) softmax[u, v](M[i, j, u, v]) * V[u, v, d]\n}\n";
    const Machine h200 = machine_of("H200");
    CHECK_LE(found(diagram, h200, 1).ranked.front().time.middle(),
             kernels_time(diagram,
                          "fuse all\ngroup i by 8\ngroup j by 16\nstream u by 16\nstream v by 8\n",
                          h200));
}

TEST_CASE("factors of a sum are summed in turn where that leaves products of matrices") {
    const SearchResult result = found(
        "diagram bilinear {\n axis n = 16384, a = 256, b = 256\n"
        " input X[n, a], Y[n, b], W[a, b] : bf16\n"
        " output F[n] : f32 = sum(a, b) X[n, a] * W[a, b] * Y[n, b]\n}\n",
        machine_of("H200"), 1);
    CHECK_EQ(print(result.ranked.front().commands.front()), "reassociate X, W as F_part in F");
}

TEST_CASE("what every block would compute of an input again is computed once where that is less") {
    const State plain = test::derived(
        "diagram layer {\n axis m = 4096, k = 4096, n = 4096\n"
        " input X[m, k], W[n, k], shift[k] : bf16\n"
        " output Y[m, n] : bf16 = sum(k) relu(X[m, k] + shift[k]) * W[n, k]\n}\n");
    const Result<SearchResult> result =
        search(plain.diagram, machine_of("H200"), {.target = "sm_80"});
    REQUIRE(result.has_value());
    const std::vector<Command>& best = result->ranked.front().commands;
    REQUIRE_GE(best.size(), 3);
    CHECK_EQ(print(best[0]), "extract X, shift as Y_left in Y");
    CHECK_EQ(print(best[1]), "unfuse Y");
    CHECK_EQ(print(best[2]), "retype Y_left to bf16");
    // Fused again it is the diagram as it was given, which another start has.
    for (const Candidate& candidate : result->ranked)
        CHECK((candidate.commands.front().rule != "extract" ||
               candidate.state.relabelling.regions.size() == 2));
}

TEST_CASE("a lone warp that waits for all it works on is not taken for a copy") {
    const SearchResult result = found(
        "diagram rows {\n axis m = 8, n = 8192, k = 8192\n input X[m, k], W[n, k] : bf16\n"
        " output Y[m, n] : bf16 = sum(k) X[m, k] * W[n, k]\n}\n",
        machine_of("H200"), 1);
    const KernelWork& work = *result.ranked.front().cost.regions.front().work;
    CHECK(work.warps * result.ranked.front().time.resident >= 4);
}

TEST_CASE("what cannot fit is said") {
    const State plain = test::derived(kMatmul);
    const Result<SearchResult> result =
        search(plain.diagram, machine_of("abstract2,block.capacity=1B"));
    REQUIRE_FALSE(result.has_value());
    CHECK_EQ(result.error().list.front().message,
             "no derivation of `matmul` that was tried fits abstract2");
}

}  // namespace
}  // namespace napkin
