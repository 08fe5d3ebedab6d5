// Times: what every figure of a machine moves, and what a time must not do.
#include "perfmodel/time.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "perfmodel/block_pattern.h"
#include "perfmodel/block_time.h"
#include "perfmodel/bound.h"
#include "perfmodel/hierarchy.h"
#include "perfmodel/kernel_choice.h"
#include "perfmodel/kernel_work.h"
#include "perfmodel/mask_report.h"
#include "tests/perfmodel/derive_support.h"

namespace napkin {
namespace {

using test::derived;
using test::machine_of;

std::string masked_attention(const std::string& type, const std::string& condition = "x >= 0") {
    return "diagram attention {\n axis q = 2048, x = 2048, d = 64\n"
           " input Q[q, d], K[x, d], V[x, d] : " +
           type + "\n S[q, x] = sum(d) Q[q, d] * K[x, d]\n P[q, x] = softmax[x](if " + condition +
           " then S[q, x] else -inf)\n output O[q, d] : " + type +
           " = sum(x) P[q, x] * V[x, d]\n weave b = 64\n}\n";
}
const char* const kTiles = "fuse S, P, O\ngroup q by 128\nstream x by 64\n";

std::string softmax(std::int64_t rows, std::int64_t columns) {
    return "diagram rows {\n axis n = " + std::to_string(rows) +
           ", d = " + std::to_string(columns) +
           "\n input X[n, d] : bf16\n output Y[n, d] : bf16 = softmax[d](X[n, d])\n}\n";
}

/// Costs of kernels that ask something of every part of a machine.
std::vector<RegionCost> workloads() {
    std::vector<RegionCost> costs;
    const auto add = [&](const std::string& diagram, const std::string& steps,
                         const char* target = "") {
        const State state = derived(diagram, steps);
        for (const RegionProgram& region : test::expanded(state).regions) {
            RegionCost cost = *cost_of(region);
            add_work(region, {target, {}, {}}, cost);
            costs.push_back(std::move(cost));
        }
    };
    add(masked_attention("bf16"), kTiles);
    add(masked_attention("bf16"), kTiles, "sm_90a");
    add(masked_attention("bf16"),
        "fuse S, P, O\ngroup q by 64\nstream x by 32\ngroup q by 16 at l2\n");
    add(softmax(65536, 1024), "group n by 4\n");
    add(softmax(65536, 16), "group n by 1\n");  // many small blocks
    add(softmax(64, 8192), "group n by 64\n");  // one large block
    // Deep products of single warps; a working set that the cache cannot hold; more than a device
    // has.
    add("diagram deep {\n axis a = 1024, b = 2048, c = 8\n input A[a, b], B[b, c] : bf16\n"
        " output C[a, c] : bf16 = sum(b) A[a, b] * B[b, c]\n}\n",
        "group a by 16\ngroup c by 8\nstream b by 512\n");
    add("diagram wide {\n axis a = 131072, b = 131072, c = 1024\n"
        " input A[a, b] : bf16\n input B[b, c] : bf16\n"
        " output C[a, c] : bf16 = sum(b) A[a, b] * B[b, c]\n}\n",
        "group a by 128\ngroup c by 128\nstream b by 256\n");
    add("diagram narrow {\n axis a = 4096, b = 8192, c = 64\n"
        " input A[a, b], B[b, c] : bf16\n"
        " output C[a, c] : bf16 = sum(b) A[a, b] * B[b, c]\n}\n",
        "group a by 64\ngroup c by 64\nstream b by 64\n", "sm_90a");
    for (const ElementType type :
         {ElementType::F16, ElementType::TF32, ElementType::E4M3, ElementType::E5M2,
          ElementType::I8, ElementType::I4, ElementType::F64}) {
        RegionCost cost = test::cost(derived(masked_attention("bf16"), kTiles)).regions.front();
        constexpr std::int64_t kMany = 1'000'000'000'000'000;
        cost.arithmetic.products = {{type, kMany}};
        cost.arithmetic.operations += kMany;
        costs.push_back(std::move(cost));
    }
    return costs;
}

/// Round figures of energy.
const std::string kWithEnergy =
    "H200,power.idle=75W,energy.device=40pJ,energy.cache=10pJ,energy.block=2pJ,"
    "energy.tensor_core=0.5pJ,energy.arithmetic=3pJ,energy.exponential=5pJ";

/// Everything that the model says of these costs on a machine.
std::string said(const std::vector<RegionCost>& costs, const Machine& on) {
    std::string text;
    for (const RegionCost& cost : costs) {
        const TimeEstimate time = time_of(cost, on);
        text += std::to_string(1e9 * time.low.value) + " " + std::to_string(1e9 * time.high.value) +
                " " + std::to_string(1e12 * time.energy.low) + " " +
                std::to_string(1e12 * time.energy.high) + time.energy.unknown + " " +
                std::to_string(time.resident);
        for (const TimeTerm& term : time.terms) text += " " + term.name + term.from;
        for (const Excess& excess : excesses_of(cost, on)) text += " " + describe(excess);
        const auto best = best_of(cost, on.capacity(Level::Block).value_or(Bytes{1}));
        if (const auto* found = std::get_if<BestTransfers>(&best))
            text += " " + std::to_string(found->bits);
        const auto levels = hierarchy_of(cost, on);
        if (const auto* found = std::get_if<Hierarchy>(&levels))
            for (const ClusterTransfers& cluster : found->clusters)
                text += " " + std::to_string(1e12 * cluster.saved.at(Level::Device).value);
        text += "\n";
    }
    return text;
}

TEST_CASE("every figure of a machine is one that the model reads") {
    const std::vector<RegionCost> costs = workloads();
    std::set<std::string> given;
    std::vector<std::string> names = machine_names();
    names.push_back(kWithEnergy);
    for (const std::string& name : names) {
        const Machine known = machine_of(name);
        const std::string before = said(costs, known);
        for (const auto& [key, figure] : known.figures) {
            given.insert(key);
            if (name.starts_with("abstract")) continue;
            bool moves = false;
            for (const double factor : {0.01, 0.25, 4.0, 100.0}) {
                Machine other = known;
                other.figures.at(key).value = figure.value * factor;
                moves = moves || said(costs, other) != before;
            }
            INFO(name, " ", key);
            CHECK(moves);
        }
    }
    for (const FigureKind& kind : all_figures()) {
        INFO(std::string(kind.key));
        CHECK(given.contains(std::string(kind.key)));
    }
}

TEST_CASE("no unit that is faster makes a kernel slower") {
    const std::vector<RegionCost> costs = workloads();
    for (const std::string& name : machine_names()) {
        const Machine known = machine_of(name);
        for (const auto& [key, figure] : known.figures) {
            const bool is_rate =
                key.ends_with(".bandwidth") || key == "processor.arithmetic" ||
                key == "processor.exponential" ||
                (key.starts_with("tensor_core.") && key.find("reached") == key.npos);
            if (!is_rate) continue;
            INFO(name, " ", key);
            Machine faster = known;
            faster.figures.at(key).value = figure.value * 4;
            for (const RegionCost& cost : costs) {
                const TimeEstimate before = time_of(cost, known);
                const TimeEstimate after = time_of(cost, faster);
                CHECK_LE(after.low.value, before.low.value * (1 + 1e-9));
                CHECK_LE(after.high.value, before.high.value * (1 + 1e-9));
            }
        }
    }
}

TEST_CASE("energy is that of the work and of waiting, within the board's limit") {
    const RegionCost cost =
        test::cost(derived(softmax(32768, 2048), "group n by 4\n")).regions.front();
    CHECK_EQ(time_of(cost, machine_of("A100")).energy.unknown, "power.idle");
    CHECK(text_of(time_of(cost, machine_of("A100")).energy).starts_with("not known, at most "));
    CHECK_EQ(text_of(time_of(cost, machine_of("abstract2")).energy), "not known");
    const TimeEstimate time = time_of(cost, machine_of(kWithEnergy));
    CHECK(time.energy.unknown.empty());
    // Every element is read and written once in two bytes, and is of one exponential.
    const double elements = 32768.0 * 2048;
    const double least = 75 * time.low.value + 0.905 * elements * (4 * 50e-12 + 5e-12);
    CHECK_GT(time.energy.low, least);
    CHECK_LT(time.energy.low, 2 * least);
    CHECK_GT(time.energy.high, time.energy.low);
    CHECK_LE(time.energy.high, 700 * time.high.value * (1 + 1e-12));
    const TimeEstimate limited = time_of(cost, machine_of(kWithEnergy + ",power.limit=76W"));
    CHECK_EQ(limited.energy.high, doctest::Approx(76 * limited.high.value));
    CHECK_LE(limited.energy.low, limited.energy.high);
}

TEST_CASE("clocks fall until the board draws what it may: to half for eight times as much") {
    const RegionCost cost =
        test::cost(derived(masked_attention("bf16"), kTiles, {{"b", 1024}})).regions.front();
    const auto busy = [&](const std::string& energy) {
        const BlockClock clock(machine_of(
            "H200,power.limit=100W,power.reached=100%,power.idle=0.001W,energy.device=0.000001pJ,"
            "energy.cache=0.000001pJ,energy.block=0.000001pJ,energy.arithmetic=0.000001pJ,energy."
            "exponential=0.000001pJ,"
            "energy.tensor_core=" +
            energy));
        return clock.times_of(general_work(cost)).high;
    };
    const double cool = busy("0.000001pJ");
    const double operations = static_cast<double>(cost.arithmetic.products.begin()->second);
    const auto drawing = [&](double watts) {
        return busy(std::to_string(1e12 * watts * cool / operations) + "pJ");
    };
    CHECK_EQ(drawing(99), cool);
    CHECK_EQ(drawing(800), doctest::Approx(2 * cool).epsilon(0.02));
    CHECK_EQ(drawing(2700), doctest::Approx(3 * cool).epsilon(0.02));
}

TEST_CASE("what a kernel waits for longer than it is busy binds it") {
    const RegionProgram region =
        test::expanded(derived("diagram row {\n axis n = 1, d = 65536\n input X[n, d] : f32\n"
                               " output Y[n] : f32 = sum(d) X[n, d] ^ 2\n}\n",
                               "stream d by 64\n"))
            .regions.front();
    RegionCost cost = *cost_of(region);
    add_work(region, {"sm_80", {}, {}}, cost);
    const TimeEstimate time = time_of(cost, machine_of("H200"));
    CHECK(time.is_waiting());
    CHECK_EQ(time.bound_by(), "waiting");
    CHECK_EQ(time.bound_next(), time.busiest);
    TimeEstimate busy = time;
    busy.waiting = Seconds{};
    CHECK_EQ(busy.bound_by(), busy.busiest);
    CHECK_EQ(busy.bound_next(), busy.second);
}

TEST_CASE("one block has no more than the bandwidth of one processor") {
    const Machine h200 = machine_of("H200");
    const auto time = [&](const std::string& steps) {
        return time_of(test::cost(derived(softmax(32768, 2048), steps)), h200).middle().value;
    };
    CHECK_GT(time("group n by 32768\n"), 10 * time("group n by 4\n"));
    CHECK_GT(time("group n by 4096\n"), 4 * time("group n by 4\n"));
    CHECK_LT(time("group n by 32\n"), 2 * time("group n by 4\n"));
}

TEST_CASE("a chunk, and a block, waits for what it loads") {
    const Machine h200 = machine_of("H200");
    const auto time = [&](const std::string& diagram, const std::string& steps) {
        const RegionProgram region = test::expanded(derived(diagram, steps)).regions.front();
        RegionCost cost = *cost_of(region);
        add_work(region, {}, cost);
        return time_of(cost, h200).middle().value;
    };
    const std::string row =
        "diagram row {\n axis n = 1, d = 1048576\n input X[n, d] : f32\n"
        " output Y[n] : f32 = sum(d) X[n, d] ^ 2\n}\n";
    CHECK_GT(time(row, "stream d by 1\n"), 1048576 * 0.1e-6);
    CHECK_GT(time(row, "stream d by 1\n"), 10 * time(row, "stream d by 4096\n"));
    const std::string turned =
        "diagram turned {\n axis n = 8192, d = 4096\n input X[n, d] : bf16\n"
        " output Y[d, n] : bf16 = X[n, d] * 2\n}\n";
    const double square = time(turned, "group n by 64\ngroup d by 64\n");
    CHECK_GT(time(turned, "group n by 1\ngroup d by 1\n"), 10 * square);
    // Of a row's piece of two bytes memory gives 32.
    CHECK_GT(time(turned, "group d by 1\n"), 1.5 * square);
    CHECK_LT(time(turned, "group n by 16\ngroup d by 128\n"), 1.1 * square);
}

TEST_CASE("blocks visit the tiles that are counted of a mask, whatever loops stand in each other") {
    for (const char* tiles : {"stream u by 4\nstream v by 8", "stream v by 8\nstream u by 4",
                              "stream v by 8", "stream u by 4"}) {
        CAPTURE(tiles);
        const State state = test::derived(
            "diagram near { axis i = 40, j = 40, d = 16\n axis u = i, v = j\n"
            "input Q[i, j, d], K[u, v, d], V[u, v, d] : bf16\n"
            "S[i, j, u, v] = sum(d) Q[i, j, d] * K[u, v, d]\n"
            "M[i, j, u, v] = if neighbourhood[i, u](9, 1, 1) and neighbourhood[j, v](13, 1, 1)"
            " then S[i, j, u, v] else -inf\n"
            "P[i, j, u, v] = softmax[u, v](M[i, j, u, v])\n"
            "output O[i, j, d] : bf16 = sum(u, v) P[i, j, u, v] * V[u, v, d] }",
            std::string("fuse all\ngroup i by 8\ngroup j by 16\n") + tiles);
        const Result<std::vector<MaskReport>> reports = mask_reports(state);
        REQUIRE(reports);
        Visits all;
        for (const Visits& block : pattern_of(test::expanded(state).regions.front())) {
            all.chunks += block.chunks;
            all.cut += block.cut;
        }
        const TileCounts counted = reports->front().total();
        CHECK_EQ(all.chunks, static_cast<double>(counted.visited));
        CHECK_EQ(all.cut, static_cast<double>(counted.partial()));
    }
}

TEST_CASE("loops without a mask repeat the chunks of those with one, in either order") {
    const auto visited = [](const char* streams) {
        const State state = derived(
            "diagram both { axis q = 256, x = 256, y = 16, d = 16\n input Q[q, d], K[x, y, d], "
            "V[x, "
            "y, d] : bf16\n S[q, x, y] = sum(d) Q[q, d] * K[x, y, d]\n P[q, x, y] = softmax[x, "
            "y](if x <= q and q - x < 64 then S[q, x, y] else -inf)\n output O[q, d] : bf16 = "
            "sum(x, y) P[q, x, y] * V[x, y, d] }",
            std::string("fuse all\ngroup q by 64\n") + streams);
        double chunks = 0;
        for (const Visits& block : pattern_of(test::expanded(state).regions.front()))
            chunks += block.chunks;
        return chunks;
    };
    // Of 16 by 4: 4 chunks of x for the first rows, 8 for each of the others.
    const double both = (4 + 3 * 8) * 4;
    CHECK_EQ(visited("stream y by 4\nstream x by 16"), both);
    CHECK_EQ(visited("stream x by 16\nstream y by 4"), both);
}

/// Chunks that the blocks of causal attention of 16 rows visit, heaviest first.
std::vector<double> chunks_of_causal(const std::string& tiles) {
    const State state = test::derived(
        "diagram causal { axis q = 16, x = 16, d = 4\n"
        "input Q[q, d], K[x, d], V[x, d] : f32\n"
        "S[q, x] = sum(d) Q[q, d] * K[x, d]\n"
        "M[q, x] = if x <= q then S[q, x] else -inf\n"
        "P[q, x] = softmax[x](M[q, x])\n"
        "output O[q, d] : f32 = sum(x) P[q, x] * V[x, d] }",
        "fuse all\ngroup q by 4\n" + tiles);
    std::vector<double> chunks;
    for (const Visits& block : pattern_of(test::expanded(state).regions.front()))
        chunks.push_back(block.chunks);
    return chunks;
}

TEST_CASE("chunks that are cut again are visited inside their own chunk alone") {
    CHECK_EQ(chunks_of_causal("stream x by 8\nstream x by 2 at l2\n"),
             std::vector<double>{8, 6, 4, 2});
    CHECK_EQ(chunks_of_causal("stream x by 8\nstream x by 3 at l2\n"),
             std::vector<double>{6, 5, 3, 2});
}

TEST_CASE("blocks of few rows are counted by some of them, of a mask of any length") {
    const State state = test::derived(
        "diagram causal { axis q = 65536, x = 65536, d = 4\n"
        "input Q[q, d], K[x, d], V[x, d] : f32\n"
        "S[q, x] = sum(d) Q[q, d] * K[x, d]\n"
        "M[q, x] = if causal[q, x]() and strided_blocks[q, x](3, 7, 50) then S[q, x] else -inf\n"
        "P[q, x] = softmax[x](M[q, x])\n"
        "output O[q, d] : f32 = sum(x) P[q, x] * V[x, d] }",
        "fuse all\ngroup q by 4\nstream x by 4\n");
    const RegionProgram region = test::expanded(state).regions.front();
    const std::vector<Visits> pattern = pattern_of(region);
    CHECK_EQ(pattern.size(), 65536 / 4);
    double chunks = 0;
    for (const Visits& block : pattern) chunks += block.chunks;
    const Result<std::vector<MaskReport>> reports = mask_reports(state);
    REQUIRE(reports);
    CHECK_EQ(chunks,
             doctest::Approx(static_cast<double>(reports->front().total().visited)).epsilon(0.01));
}

/// Of a chunk of a product whose left operand is made of `X` and `gain`.
UnitWork chunk_with_left(const std::string& left, std::int64_t depth) {
    const State state =
        derived("diagram linear {\n axis n = 1024, d = " + std::to_string(depth) +
                    ", c = 1024\n input X[n, d], gain[d], W[c, d] : bf16\n"
                    " param eps : f32 = 1e-6\n N[n, d] = " +
                    left + "\n output Y[n, c] : bf16 = sum(d) N[n, d] * W[c, d]\n}\n",
                "fuse all\ngroup n by 128\ngroup c by 256\nstream d by 64\n");
    const RegionProgram region = test::expanded(state).regions.front();
    RegionCost cost = *cost_of(region);
    add_work(region, {"sm_90a", {}, {}}, cost);
    REQUIRE(cost.work.has_value());
    REQUIRE_EQ(cost.work->target, "sm_90a");
    REQUIRE_EQ(cost.work->loops.size(), 1);
    return cost.work->loops.front().chunk;
}

TEST_CASE("a left operand that is computed in pairs costs about half of another") {
    // Chunks of 64 divide the first; of the other the last one is cut, so that none is in pairs.
    constexpr std::int64_t kWhole = 1024;
    constexpr std::int64_t kCut = 1000;
    const std::string scale = "X[n, d] * gain[d]";
    const UnitWork paired = chunk_with_left(scale, kWhole);
    const UnitWork alone = chunk_with_left(scale, kCut);
    // Nothing else in such a chunk takes instructions.
    CHECK_GT(paired.instructions, 0);
    CHECK_LT(paired.instructions, 0.6 * alone.instructions);
    CHECK_LT(paired.turns, alone.turns);
    CHECK_EQ(paired.products, alone.products);

    // A norm sums squares as well, which are not in pairs: of elements that are there for the
    // product, or are read for them.
    const std::string norm = "rmsnorm[d](X[n, d], gain[d], eps)";
    const UnitWork paired_norm = chunk_with_left(norm, kWhole);
    const UnitWork norm_alone = chunk_with_left(norm, kCut);
    CHECK_EQ(paired_norm.turns, paired.turns);
    CHECK_GT(norm_alone.turns, alone.turns);
    CHECK_GT(paired_norm.instructions, paired.instructions);
    CHECK_LT(paired_norm.instructions - paired.instructions,
             norm_alone.instructions - alone.instructions);
}

TEST_CASE("an array that is laid out otherwise costs what one that is declared so costs") {
    const Machine h200 = machine_of("H200");
    const auto time = [&](const std::string& output, const std::string& steps) {
        const State state = derived(
            "diagram copied {\n axis i = 512, k = 512, c = 128\n input A[i, k, c] : bf16\n "
            "output " +
                output + "\n}\n",
            steps);
        const RegionProgram region = test::expanded(state).regions.front();
        REQUIRE_EQ(region.name, "T");
        RegionCost cost = *cost_of(region);
        add_work(region, {"sm_80", {}, {}}, cost);
        return time_of(cost, h200).middle();
    };
    const std::string declared = "T[c, i, k] : bf16 = A[i, k, c]";
    for (const std::string& tiles : {std::string("group i by 1 in T\ngroup k by 64 in T\n"),
                                     std::string("group i by 1 in T\ngroup c by 64 in T\n"),
                                     std::string("group c by 16 in T\ngroup k by 1 in T\n")}) {
        INFO(tiles);
        CHECK_EQ(time("L[i, k, c] : bf16 = 2 * A[i, k, c]", "layout A[c, i, k] as T\n" + tiles),
                 time(declared, tiles));
        // A copy in order moves whole lines.
        CHECK_LE(time("T[i, k, c] : bf16 = A[i, k, c]", tiles), time(declared, tiles));
    }
}

TEST_CASE("a mask saves time, and more work takes more") {
    const Machine h200 = machine_of("H200");
    const auto time = [&](const std::string& diagram) {
        const State state = derived(diagram, kTiles);
        const RegionProgram region = test::expanded(state).regions.front();
        RegionCost cost = *cost_of(region);
        add_work(region, {}, cost);
        return time_of(cost, h200);
    };
    const TimeEstimate full = time(masked_attention("bf16"));
    const TimeEstimate causal = time(masked_attention("bf16", "x <= q"));
    CHECK_LT(causal.high, full.low);
    CHECK_GT(causal.low, 0.3 * full.low);
    CHECK_EQ(full.busiest, "tensor core bf16");
    CHECK_FALSE(full.second.empty());
    const double width = (full.high - full.low) / full.middle();
    CHECK_LE(width, 0.2 + 1e-9);
}

}  // namespace
TEST_CASE(
    "blocks a processor are those that it has room for, and none is timed where it has none") {
    const State state = derived(masked_attention("bf16"), kTiles);
    const auto time_on = [&](const std::string& figures, const std::string& target) {
        const Machine machine = machine_of("H200" + figures);
        const Result<TileProgram> program = expand(state);
        REQUIRE(program);
        const RegionProgram& region = program->regions.front();
        Result<RegionCost> cost = quick_cost_of(region);
        REQUIRE(cost);
        add_work(region, kernels_for(machine, target), *cost);
        REQUIRE(cost->work);
        const TimeEstimate time = time_of(*cost, machine);
        CHECK_EQ(time.is_known(), excesses_of(*cost, machine).empty());
        return time;
    };
    for (const char* target : {"sm_90a", "sm_80"}) {
        INFO("for ", target);
        CHECK(time_on("", target).is_known());
        CHECK_EQ(time_on(",processor.blocks=1", target).resident, 1);
        for (const char* less :
             {",processor.threads=64", ",processor.registers=4KiB", ",block.per_processor=10KiB"})
            CHECK_FALSE(time_on(less, target).is_known());
    }
}

TEST_CASE("where data decides too, chunks that indices leave out take no time") {
    const auto times = [](const std::string& condition) {
        const State state = derived(
            "diagram attention {\n axis q = 65536, x = 65536, d = 64\n input Q[q, d], K[x, d], "
            "V[x, "
            "d] : bf16\n input doc[q], document[x] : i32\n S[q, x] = sum(d) Q[q, d] * K[x, d]\n "
            "P[q, x] = softmax[x](if " +
                condition +
                " then S[q, x] else -inf)\n output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n}\n",
            kTiles);
        const RegionProgram region = test::expanded(state).regions.front();
        RegionCost cost = *cost_of(region);
        add_work(region, {"sm_80", {}, {}}, cost);
        return BlockClock(machine_of("H200")).times_of(*cost.work);
    };
    const std::string window = "x <= q and q - x < 512";
    const BlockClock::Times plain = times(window);
    const BlockClock::Times decided = times(window + " and doc[q] == document[x]");
    CHECK_EQ(plain.low, plain.high);
    CHECK_LT(decided.low, plain.high);
    CHECK_GT(decided.high, plain.high);
    CHECK_LT(decided.high, 2 * plain.high);
    // At least a chunk a block, whatever the indices leave beside it.
    const BlockClock::Times alone = times("doc[q] == document[x]");
    CHECK_GT(alone.high, 20 * decided.high);
    CHECK_LT(alone.low, 1.5 * decided.low);
}

TEST_CASE("parts of an array are read side by side, as rows of one that has them are") {
    const auto seconds = [](const std::string& diagram, const std::string& steps) {
        const State state = derived(diagram, steps);
        const RegionProgram region = test::expanded(state).regions.front();
        RegionCost cost = *cost_of(region);
        add_work(region, {"sm_80", {}, {}}, cost);
        return BlockClock(machine_of("H200")).times_of(*cost.work).high;
    };
    const double parts = seconds(
        "diagram parts {\n axis n = 16777216\n input X[n] : f32\n output Y : f32 = sum(n) X[n]\n}",
        "split-stream n by 512");
    const double rows = seconds(
        "diagram rows {\n axis a = 32768, n = 512\n input X[a, n] : f32\n output Y[a] : f32 = "
        "sum(n) X[a, n]\n}",
        "group a by 1");
    CHECK_EQ(parts, doctest::Approx(rows).epsilon(0.05));
}

}  // namespace napkin
