// Prepared costs are those of the program at each size, to the value.
#include "perfmodel/prepared_cost.h"

#include <doctest/doctest.h>

#include <random>

#include "perfmodel/kernel_work.h"
#include "perfmodel/tile_count.h"
#include "tests/perfmodel/derive_support.h"
#include "tests/support/random_derivation.h"
#include "tests/support/random_diagram.h"

namespace napkin {
namespace {

void check_same(const KernelWork& work, const KernelWork& wanted) {
    CHECK_EQ(work.values, wanted.values);
    CHECK_EQ(work.loaded, wanted.loaded);
    CHECK_EQ(work.saved, wanted.saved);
    CHECK_EQ(work.compulsory, wanted.compulsory);
    CHECK_EQ(work.blocks, wanted.blocks);
    CHECK_EQ(work.shared_bytes, wanted.shared_bytes);
    CHECK_EQ(work.data_decides, wanted.data_decides);
    const auto all = [](const KernelWork& of) {
        return of.loops.empty() ? of.edges : of.loops.front().chunk;
    };
    CHECK_EQ(all(work).products, all(wanted).products);
    CHECK_EQ(all(work).exponentials, all(wanted).exponentials);
    CHECK_EQ(all(work).instructions, all(wanted).instructions);
}

/// Three sizes of every group and chunk at block level: one that divides little, one, all.
std::vector<SizeList> lists_for(const State& state, const Region& region) {
    std::vector<SizeList> lists;
    const auto sizes = [&](AxisId axis) {
        return std::vector<std::int64_t>{3, 1, state.diagram[axis].extent};
    };
    for (const Group& group : region.groups)
        if (group.level == Level::Block)
            lists.push_back({group_size(group.axis, Level::Block), sizes(group.axis)});
    for (const Stream& stream : region.streams)
        if (stream.level == Level::Block)
            lists.push_back({stream_size(stream.axis, Level::Block), sizes(stream.axis)});
    return lists;
}

void resize(std::vector<TileStatement>& body, const SymbolValues& sizes) {
    for (TileStatement& statement : body) {
        if (Parallel* parallel = std::get_if<Parallel>(&statement.node)) {
            const auto size = sizes.find(group_size(parallel->axis, parallel->level));
            if (size != sizes.end()) parallel->size = size->second;
            resize(parallel->body, sizes);
        } else if (Loop* loop = std::get_if<Loop>(&statement.node)) {
            const auto size = sizes.find(stream_size(loop->axis, loop->level));
            if (size != sizes.end()) loop->size = size->second;
            resize(loop->body, sizes);
        }
    }
}

/// The program with other sizes. Capacities follow from their formulas; one that is a number (of an
/// affine index) stays as it was, as in prepared costs.
RegionProgram resized(RegionProgram region, const SymbolValues& sizes) {
    resize(region.body, sizes);
    const SymbolValues all = sizes_of(region);
    for (Variable& variable : region.variables)
        for (std::size_t k = 0; k < variable.capacity.size(); ++k)
            variable.capacity_extent[k] = evaluate_integer(variable.capacity[k], all);
    return region;
}

/// How many candidates were compared.
int check_region(const State& state, const Region& region) {
    const Result<RegionProgram> program = expand(state, region, OpaqueBoxes::Keep);
    REQUIRE(program.has_value());
    const std::vector<SizeList> lists = lists_for(state, region);
    PreparedCost prepared(*program, lists);
    std::vector<std::size_t> picks(lists.size(), 0);
    int compared = 0;
    while (true) {
        SymbolValues sizes;
        for (std::size_t k = 0; k < lists.size(); ++k)
            sizes[lists[k].symbol] = lists[k].sizes[picks[k]];
        const Result<RegionCost> wanted = quick_cost_of(resized(*program, sizes));
        REQUIRE(wanted.has_value());
        CHECK_EQ(prepared.held_bits(picks),
                 static_cast<double>(wanted->levels.at(Level::Block).allocated.bits));
        check_same(prepared.work(picks), general_work(*wanted));
        ++compared;
        std::size_t at = 0;
        while (at < picks.size() && ++picks[at] == lists[at].sizes.size()) picks[at++] = 0;
        if (at == picks.size()) return compared;
    }
}

TEST_CASE("prepared costs are those at each size, on derivations that nobody wrote") {
    std::mt19937_64 random(5);
    int compared = 0;
    int streamed = 0;
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        const std::string text = test::random_diagram(seed);
        const State state = test::random_derivation(test::derived(text).diagram, random, 8);
        INFO(text, test::steps_text(state));
        for (const Region& region : state.relabelling.regions) {
            compared += check_region(state, region);
            streamed += region.streams.empty() ? 0 : 1;
        }
    }
    CHECK_GT(compared, 500);
    CHECK_GT(streamed, 5);
}

TEST_CASE("prepared costs know masks, halos, and indices from data") {
    const auto compared = [](const char* text, const char* steps) {
        const State state = test::derived(text, steps);
        return check_region(state, state.relabelling.regions.back());
    };
    CHECK_EQ(
        compared("diagram windowed {\n axis q = 23, x = 31, d = 3, e = d\n"
                 " input Q[q, d], K[x, d], V[x, e]\n"
                 " S[q, x] = if x <= q + 8 and q - x < 4 then sum(d) Q[q, d] * K[x, d] else -inf\n"
                 " P[q, x] = softmax[x](S[q, x])\n"
                 " output O[q, e] = sum(x) P[q, x] * V[x, e]\n weave h = 2\n}\n",
                 "fuse all\ngroup q by 4\nstream x by 5\n"),
        27);
    CHECK_EQ(compared("diagram taps {\n axis n = 20, r = 3, p = n + r - 1, c = 4\n"
                      " input X[p, c], W[r, c]\n"
                      " output Y[n, c] = sum(r) X[n + r, c] * W[r, c]\n}\n",
                      "group n by 4\n"),
             3);
    CHECK_EQ(compared("diagram rows {\n axis n = 12, v = 7, d = 5\n input E[v, d]\n"
                      " input label[n] : i32\n output Y[n, d] = 2 * E[label[n], d]\n}\n",
                      "group n by 4\ngroup d by 2\n"),
             9);
}

}  // namespace
}  // namespace napkin
