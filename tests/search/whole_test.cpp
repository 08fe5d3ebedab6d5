// Whole diagrams: the fastest partition into regions, against all of them, and what is ruled out.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>

#include "diagrams/contains.h"
#include "perfmodel/time.h"
#include "search/kernels.h"
#include "search/least_time.h"
#include "search/partition.h"
#include "search/search.h"
#include "search/tilings.h"
#include "tests/golden.h"
#include "tests/search/search_support.h"

namespace napkin {
namespace {

using test::kernels_time;
using test::machine_of;

constexpr double kNever = std::numeric_limits<double>::infinity();

SearchResult found(const State& plain, const Machine& on) {
    Result<SearchResult> result = search(plain.diagram, on, {.top = 1});
    if (!result) FAIL(test::rendered(result.error(), SourceMap{}));
    return std::move(*result);
}

/// `count` attentions, each of the one before or by itself.
std::string attentions(int count, bool chained) {
    std::string text = "diagram attentions {\n axis q = 1024, x = 1024, d = 64\n";
    if (chained) text += " input O0[q, d] : bf16\n";
    for (int i = 1; i <= count; ++i) {
        const std::string n = std::to_string(i);
        const std::string queries = chained ? "O" + std::to_string(i - 1) : "Q" + n;
        text += " input K" + n + "[x, d], V" + n + "[x, d] : bf16\n";
        if (!chained) text += " input " + queries + "[q, d] : bf16\n";
        text += " S" + n + "[q, x] = sum(d) " + queries + "[q, d] * K" + n + "[x, d]\n";
        text += " P" + n + "[q, x] = softmax[x](S" + n + "[q, x])\n";
        text += (chained && i < count ? " O" : " output O") + n + "[q, d] : bf16 = sum(x) P" + n +
                "[q, x] * V" + n + "[x, d]\n";
    }
    return text + " weave h = 16\n}\n";
}

BoxGraph random_graph(std::size_t boxes, std::mt19937& random) {
    BoxGraph graph;
    const BoxSet none(boxes);
    graph.before = graph.after = graph.beside = graph.sharing = std::vector(boxes, none);
    for (std::size_t box = 1; box < boxes; ++box)
        for (std::size_t other = 0; other < box; ++other) {
            if (random() % 3 != 0) continue;
            graph.beside[box].set(other);
            graph.beside[other].set(box);
            graph.before[box].set(other);
            graph.before[box] |= graph.before[other];
        }
    for (std::size_t box = 0; box < boxes; ++box)
        for (std::size_t other = 0; other < boxes; ++other)
            if (graph.before[other].test(box)) graph.after[box].set(other);
    return graph;
}

/// Whether sets that hold every box once can run one after the other.
bool can_run(const BoxGraph& graph, const std::vector<BoxSet>& parts) {
    BoxSet done = graph.none();
    for (bool goes_on = true; goes_on && !done.all();) {
        goes_on = false;
        for (const BoxSet& part : parts) {
            if (part.is_subset_of(done)) continue;
            BoxSet needs = graph.none();
            for (std::size_t box = part.find_first(); box != BoxSet::npos;
                 box = part.find_next(box))
                needs |= graph.before[box];
            if (!needs.is_subset_of(done | part)) continue;
            done |= part;
            goes_on = true;
        }
    }
    return done.all();
}

/// The least sum of times over all partitions that can run, one after the other.
double least_of_all(const BoxGraph& graph, const std::vector<BoxSet>& sets,
                    const std::vector<double>& times) {
    double least = kNever;
    std::vector<BoxSet> parts;
    const auto choose = [&](const auto& self, const BoxSet& covered, double time) -> void {
        if (covered.all()) {
            if (time < least && can_run(graph, parts)) least = time;
            return;
        }
        for (std::size_t k = 0; k < sets.size(); ++k) {
            if (!sets[k].test((~covered).find_first()) || sets[k].intersects(covered)) continue;
            parts.push_back(sets[k]);
            self(self, covered | sets[k], time + times[k]);
            parts.pop_back();
        }
    };
    choose(choose, graph.none(), 0);
    return least;
}

TEST_CASE("the fastest partition is the fastest of all that can run") {
    std::mt19937 random(7);
    for (int trial = 0; trial < 40; ++trial) {
        const BoxGraph graph = random_graph(3 + random() % 5, random);
        const BoxSets found = convex_sets(graph, graph.size());
        CHECK_EQ(found.most_boxes, 0);
        std::vector<double> times;
        for (const BoxSet& set : found.sets) {
            const auto boxes = static_cast<double>(set.count());
            times.push_back(boxes + static_cast<double>(random() % 5));
            if (boxes > 1 && random() % 6 == 0) times.back() = kNever;
        }
        const std::optional<Cuts> cuts = Cuts::of(graph, found.sets, 1000);
        REQUIRE(cuts.has_value());
        const auto path = cuts->shortest(times);
        REQUIRE(path.has_value());
        double sum = 0;
        BoxSet done = graph.none();
        for (const std::size_t set : *path) {
            sum += times[set];
            CHECK_FALSE(done.intersects(found.sets[set]));
            done |= found.sets[set];
        }
        CHECK(done.all());
        CHECK_EQ(sum, least_of_all(graph, found.sets, times));
    }
}

TEST_CASE("convex sets are all that data flow connects") {
    std::mt19937 random(11);
    for (int trial = 0; trial < 20; ++trial) {
        const BoxGraph graph = random_graph(6, random);
        const std::vector<BoxSet> sets = convex_sets(graph, 6).sets;
        std::size_t count = 0;
        for (unsigned long bits = 1; bits < 64; ++bits) {
            const BoxSet set(6, bits);
            BoxSet reached = graph.none();
            reached.set(set.find_first());
            for (int i = 0; i < 6; ++i)
                for (std::size_t box = 0; box < 6; ++box)
                    if (reached.test(box)) reached |= graph.beside[box] & set;
            bool convex = true;
            for (std::size_t box = 0; box < 6; ++box)
                convex = convex && (set.test(box) || !graph.before[box].intersects(set) ||
                                    !graph.after[box].intersects(set));
            count += convex && reached == set ? 1 : 0;
        }
        CHECK_EQ(sets.size(), count);
    }
}

/// The least time of all derivations that fuse, group by powers of two and stream one axis, each
/// derived and costed by itself.
class Exhaustive {
public:
    explicit Exhaustive(const Machine& on) : machine_(on) {}

    double least(const State& plain) {
        double best = regions_time(plain);
        const std::size_t count = plain.relabelling.regions.size();
        for (unsigned long bits = 1; bits < (1UL << count); ++bits) {
            Command fuse;
            fuse.rule = "fuse";
            for (std::size_t r = 0; r < count; ++r)
                if ((bits >> r) % 2 == 1)
                    fuse.names.push_back(region_name(plain.diagram, plain.relabelling.regions[r]));
            if (fuse.names.size() < 2) continue;
            const Outcome next = apply(plain, fuse);
            if (const State* state = std::get_if<State>(&next))
                best = std::min(best, least(*state));
        }
        return best;
    }

private:
    double regions_time(const State& state) {
        double sum = 0;
        for (const Region& region : state.relabelling.regions) {
            const auto [known, is_new] = known_.try_emplace(region.statements, kNever);
            if (is_new) known->second = region_time(state, region_name(state.diagram, region));
            sum += known->second;
        }
        return sum;
    }

    double region_time(const State& state, const std::string& region) {
        best_ = kNever;
        tile(state, region, 0, false);
        return best_;
    }

    void tile(const State& state, const std::string& region, std::uint32_t axis, bool streams) {
        if (axis == state.diagram.axes.size()) return note(state, region);
        tile(state, region, axis + 1, streams);
        for (std::int64_t size = 1; size < state.diagram.axes[axis].extent; size *= 2)
            for (const char* rule : {"group", "stream"}) {
                if (streams && rule == std::string("stream")) continue;
                Command command;
                command.rule = rule;
                command.names = {state.diagram.axes[axis].name};
                command.size = size;
                command.in = region;
                const Outcome next = apply(state, command);
                if (const State* tiled = std::get_if<State>(&next))
                    tile(*tiled, region, axis + 1, streams || rule == std::string("stream"));
            }
    }

    void note(const State& state, const std::string& region) {
        const auto at = std::get<std::size_t>(find_region(state, region));
        const auto program = expand(state, state.relabelling.regions[at], OpaqueBoxes::Keep);
        if (!program) return;
        const auto cost = quick_cost_of(*program);
        REQUIRE(cost.has_value());
        if (!excesses_of(*cost, machine_).empty()) return;
        best_ = std::min(best_, time_of(*cost, machine_).middle().value);
    }

    const Machine& machine_;
    std::map<std::vector<StatementId>, double> known_;
    double best_ = kNever;
};

TEST_CASE("search finds the best of all derivations of small spaces") {
    const std::string product =
        " axis a = A, b = B, c = C\n input X[a, b], W[b, c] : bf16\n"
        " output Y[a, c] : bf16 = sum(b) X[a, b] * W[b, c]\n}\n";
    const std::string rows =
        " axis a = A, b = B, c = C\n input X[a, b] : f32\n T[a, b] = exp(X[a, b])\n"
        " output Y[a, b] = softmax[b](T[a, b])\n}\n";
    const std::string fan =
        " axis a = A, b = B, c = C\n input X[a, b], W[b, c] : f32\n"
        " U[a, c] = sum(b) X[a, b] * W[b, c]\n V[a, c] = exp(U[a, c])\n"
        " output Y[a, c] = U[a, c] * V[a, c]\n}\n";
    const std::string masked =
        " axis a = A, b = B, c = C\n input X[a, b], W[b, c] : f32\n"
        " output Y[a, c] = sum(b) (if b <= a then X[a, b] * W[b, c] else 0)\n}\n";
    const std::string attention =
        " axis a = A, b = B, c = C\n input Q[a, c], K[b, c], V[b, c] : bf16\n"
        " S[a, b] = sum(c) Q[a, c] * K[b, c]\n P[a, b] = softmax[b](S[a, b])\n"
        " output O[a, c] : bf16 = sum(b) P[a, b] * V[b, c]\n}\n";
    struct Space {
        const std::string& text;
        Sizes sizes;
        const char* capacity;
    };
    const std::vector<Space> spaces = {
        {product, {{"A", 8}, {"B", 8}, {"C", 8}}, "64KiB"},
        {product, {{"A", 8}, {"B", 8}, {"C", 8}}, "256B"},
        {product, {{"A", 8}, {"B", 8}, {"C", 8}}, "96B"},
        {product, {{"A", 16}, {"B", 4}, {"C", 8}}, "256B"},
        {product, {{"A", 4}, {"B", 16}, {"C", 16}}, "128B"},
        {product, {{"A", 8}, {"B", 16}, {"C", 4}}, "512B"},
        {rows, {{"A", 8}, {"B", 8}, {"C", 1}}, "64KiB"},
        {rows, {{"A", 8}, {"B", 8}, {"C", 1}}, "96B"},
        {rows, {{"A", 4}, {"B", 16}, {"C", 1}}, "96B"},
        {rows, {{"A", 16}, {"B", 4}, {"C", 1}}, "48B"},
        {fan, {{"A", 4}, {"B", 8}, {"C", 4}}, "64KiB"},
        {fan, {{"A", 4}, {"B", 8}, {"C", 4}}, "256B"},
        {fan, {{"A", 8}, {"B", 4}, {"C", 4}}, "128B"},
        {fan, {{"A", 8}, {"B", 4}, {"C", 4}}, "64B"},
        {masked, {{"A", 8}, {"B", 8}, {"C", 8}}, "64KiB"},
        {masked, {{"A", 8}, {"B", 8}, {"C", 8}}, "256B"},
        {masked, {{"A", 8}, {"B", 4}, {"C", 8}}, "128B"},
        {attention, {{"A", 8}, {"B", 8}, {"C", 4}}, "64KiB"},
        {attention, {{"A", 8}, {"B", 8}, {"C", 4}}, "512B"},
        {attention, {{"A", 4}, {"B", 8}, {"C", 4}}, "160B"},
    };
    for (const Space& space : spaces) {
        std::string text = "diagram space {\n" + space.text;
        for (const auto& [name, size] : space.sizes)
            text.replace(text.find("= " + name), 2 + name.size(), "= " + std::to_string(size));
        const Machine on = machine_of(std::string("abstract2,block.capacity=") + space.capacity);
        INFO(text, space.capacity);
        const State plain = test::derived(text);
        const double best = Exhaustive(on).least(plain);
        const Result<SearchResult> result = search(plain.diagram, on, {.top = 1});
        // Where nothing fits, boxes come apart, which is another space.
        if (best == kNever) continue;
        REQUIRE(result);
        CHECK_EQ(result->ranked.front().time.middle().value, doctest::Approx(best));
    }
}

TEST_CASE("no kernel is faster than the least time of its region") {
    const char* const causal =
        "diagram causal {\n axis q = 512, x = 512, d = 64\n input Q[q, d], K[x, d], V[x, d] : "
        "bf16\n"
        " S[q, x] = sum(d) Q[q, d] * K[x, d]\n"
        " P[q, x] = softmax[x](if x <= q and x + 100 > q then S[q, x] else -inf)\n"
        " output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n weave h = 16\n}\n";
    const char* const documents =
        "diagram documents {\n axis q = 512, x = 512, d = 64\n"
        " input Q[q, d], K[x, d], V[x, d] : bf16\n input doc[x] : i32\n"
        " S[q, x] = sum(d) Q[q, d] * K[x, d]\n"
        " P[q, x] = softmax[x](if doc[q] == doc[x] then S[q, x] else -inf)\n"
        " output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n weave h = 16\n}\n";
    const char* const gather =
        "diagram embedding {\n axis n = 512, d = 64, v = 4096\n input label[n] : i32\n"
        " input E[v, d] : bf16\n T[n, d] = E[label[n], d]\n"
        " output Y[n, d] : bf16 = exp(T[n, d])\n}\n";
    const std::string chain = attentions(1, true);
    for (const std::string& text :
         {std::string(causal), std::string(documents), std::string(gather), chain})
        for (const char* name : {"H200", "A100", "abstract2"}) {
            const Machine on = machine_of(name);
            const State plain = test::derived(text);
            const BoxGraph graph = box_graph(plain);
            for (const BoxSet& set : convex_sets(graph, 12).sets) {
                Command fuse;
                fuse.rule = "fuse";
                for (std::size_t box = set.find_first(); box != BoxSet::npos;
                     box = set.find_next(box))
                    fuse.names.push_back(
                        region_name(plain.diagram, plain.relabelling.regions[box]));
                const auto state =
                    after(plain, set.count() > 1 ? std::vector{fuse} : std::vector<Command>{});
                REQUIRE(state.has_value());
                const auto at = std::get<std::size_t>(find_region(*state, fuse.names.back()));
                const Region& region = state->relabelling.regions[at];
                const auto least = least_time(*state, region, on);
                REQUIRE(least.has_value());
                TilingCounts counts;
                std::vector<Tiling> tilings =
                    best_tilings(*state, fuse.names.back(), on, 1, counts);
                REQUIRE_FALSE(tilings.empty());
                if (!kernels_for(on, "").target.empty()) {
                    const Serves any;
                    KernelCounts made;
                    tilings = best_kernels(*state, fuse.names.back(), tilings,
                                           {on, kernels_for(on, ""), any, 0}, 1, made);
                }
                INFO(text, fuse.names.back(), name);
                for (const Tiling& tiling : tilings) CHECK_LE(*least, tiling.time);
            }
        }
}

TEST_CASE("seventeen attentions are seventeen kernels, tiled once") {
    const Machine h200 = machine_of("H200");
    for (const bool chained : {true, false}) {
        INFO(chained);
        const auto start = std::chrono::steady_clock::now();
        const State plain = test::derived(attentions(17, chained));
        const SearchResult result = found(plain, h200);
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        CHECK_LT(spent.count(), 100);  // a few in a fast build
        const std::vector<Region>& regions = result.ranked.front().state.relabelling.regions;
        CHECK_EQ(regions.size(), 17);
        CHECK_LT(result.tiled, result.regions);
        CHECK_EQ(result.searched, result.regions);
        const SearchResult one = found(test::derived(attentions(1, true)), h200);
        CHECK_LE(result.ranked.front().time.middle().value,
                 17.001 * one.ranked.front().time.middle().value);
        for (const Region& region : regions) CHECK_EQ(region.groups, regions.front().groups);
    }
}

TEST_CASE("two chained attentions are as fast as by hand") {
    const Machine h200 = machine_of("H200");
    const std::string text = attentions(2, true);
    const SearchResult result = found(test::derived(text), h200);
    CHECK_LE(result.ranked.front().time.middle(),
             kernels_time(text,
                          "fuse S1, P1, O1\nfuse S2, P2, O2\ngroup q by 128 in O1\n"
                          "stream x by 64 in O1\ngroup q by 128 in O2\nstream x by 64 in O2\n",
                          h200));
}

TEST_CASE("a block of a transformer keeps no scores in memory") {
    const std::string text =
        test::read_text(std::filesystem::path(NAPKIN_BENCHMARKS_DIR) / "../transformer_block.ncd");
    const State plain = test::derived(text);
    REQUIRE_EQ(plain.relabelling.regions.size(), 14);
    const SearchResult result = found(plain, machine_of("abstract2"));
    const State& best = result.ranked.front().state;
    const AxisId rows = *find_axis(best.diagram, "t");
    const AxisId columns = *find_axis(best.diagram, "s");
    for (const Region& region : best.relabelling.regions)
        for (const ArrayId array : saves_of(best.diagram, region)) {
            const std::vector<AxisId>& axes = best.diagram[array].axes;
            CHECK_FALSE((contains(axes, rows) && contains(axes, columns)));
        }
}

TEST_CASE(
    "a plain kernel of all is found where a tensor core's target takes what combines its parts") {
    const SearchResult result = found(test::derived(R"(diagram small {
  axis b = 4096, i = 4, j = 4, k = 4
  input A[b, i, k], B[b, k, j], C[b, j] : f32
  P[b, i, j] = sum(k) A[b, i, k] * B[b, k, j]
  output Y[b, i] : f32 = sum(j) P[b, i, j] * C[b, j]
  output D[j, i, b] : f32 = P[b, i, j] - P[b, j, i]
})"),
                                      machine_of("H200"));
    CHECK_EQ(result.ranked.front().state.relabelling.regions.size(), 1);
}

TEST_CASE("a wide diagram says what was not looked at") {
    std::string text =
        "diagram wide {\n axis a = 256, b = 256\n input X[a, b] : f32\n"
        " T[a, b] = exp(X[a, b])\n";
    for (int i = 0; i < 24; ++i)
        text += " output Y" + std::to_string(i) + "[a, b] = T[a, b] + " + std::to_string(i) + "\n";
    const SearchResult result = found(test::derived(text + "}\n"), machine_of("abstract2"));
    CHECK_GE(result.most_boxes, 1);
    CHECK_LT(result.most_boxes, 24);
    CHECK_EQ(result.ranked.front().state.relabelling.regions.size(), 1);  // the whole
}

}  // namespace
}  // namespace napkin
