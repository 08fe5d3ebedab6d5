// Gathers: what a tile takes of memory is by the array's layout, whatever order its axes have.
#include <doctest/doctest.h>

#include <algorithm>

#include "perfmodel/kernel_choice.h"
#include "perfmodel/pipelines.h"
#include "tests/perfmodel/derive_support.h"

namespace napkin {
namespace {

/// Keys and values in pages that a table names, as each layout has them.
std::string paged(const std::string& layout) {
    return "diagram paged {\n axis pages = 256, blocks = 16, s = 64, d = 128, b = 4, h = 8, g = 4\n"
           " input Q[b, h, g, d] : bf16\n input K[" +
           layout + "], V[" + layout +
           "] : bf16\n input page[b, blocks] : i32\n"
           " S[b, h, g, blocks, s] = sum(d) Q[b, h, g, d] * K[" +
           layout +
           "] * rsqrt(size(d))\n P[b, h, g, blocks, s] = softmax[blocks, s](S[b, h, g, blocks, "
           "s])\n output O[b, h, g, d] : bf16 = sum(blocks, s) P[b, h, g, blocks, s] * V[" +
           layout + "]\n}\n";
}

/// The diagram with reads of `pages` through the table, or of as many blocks in place.
std::string with_table(std::string diagram, bool is_gather) {
    const auto replace = [&](std::size_t from, const std::string& what, const std::string& with) {
        for (std::size_t at = diagram.find(what, from); at != std::string::npos;
             at = diagram.find(what, at + with.size()))
            diagram.replace(at, what.size(), with);
    };
    if (is_gather)
        replace(diagram.find(" S["), "pages", "page[b, blocks]");
    else
        replace(diagram.find(" input K"), "pages", "b, blocks");
    return diagram;
}

std::vector<RegionCost> costs(const std::string& diagram, const std::string& steps) {
    const TileProgram program = test::expanded(test::derived(diagram, steps));
    std::vector<RegionCost> all;
    for (const char* target : {"simt", "sm_80", "sm_90a"}) {
        RegionCost cost = *cost_of(program.regions.front());
        add_work(program.regions.front(), {target, {}, {}}, cost);
        all.push_back(std::move(cost));
    }
    return all;
}

double sectors_of(const RegionCost& cost, const std::string& array) {
    const auto found = std::find_if(
        cost.transfers.begin(), cost.transfers.end(),
        [&](const Transfer& transfer) { return !transfer.is_save && transfer.name == array; });
    REQUIRE(found != cost.transfers.end());
    return found->sectors;
}

TEST_CASE("pages through a table take as many sectors as pages in place") {
    const std::string tiles = "fuse all\ngroup b by 1\ngroup h by 1\nstream blocks by 1\n";
    const std::string nested = tiles + "group g by 2 at l2\n";
    for (const std::string& steps : {tiles, nested})
        for (const char* layout : {"pages, s, h, d", "pages, h, s, d", "pages, h, d, s"}) {
            const std::vector<RegionCost> direct = costs(with_table(paged(layout), false), steps);
            const std::vector<RegionCost> gathered = costs(with_table(paged(layout), true), steps);
            for (std::size_t k = 0; k < gathered.size(); ++k) {
                INFO(std::string(layout), " ", k);
                for (const char* array : {"K", "V"})
                    CHECK_EQ(sectors_of(gathered[k], array), sectors_of(direct[k], array));
                REQUIRE(gathered[k].work.has_value());
                // The table is little beside them.
                CHECK_EQ(all_of(*gathered[k].work).loaded,
                         doctest::Approx(all_of(*direct[k].work).loaded).epsilon(0.01));
            }
        }
    const std::string last = "pages, s, d, h";
    // Heads beside each other, of which a block takes one: the rest of a sector is for nothing.
    for (const bool is_gather : {false, true})
        for (const RegionCost& cost : costs(with_table(paged(last), is_gather), tiles))
            CHECK_EQ(sectors_of(cost, "K"), 16);
}

TEST_CASE("rows of experts that tokens choose come in sectors of their columns") {
    const std::string experts =
        "diagram experts {\n axis t = 64, e = 8, d = 512, f = 1024\n input X[t, d] : bf16\n"
        " input W[e, d, f] : bf16\n input choice[t] : i32\n"
        " output Y[t, f] : bf16 = sum(d) X[t, d] * W[choice[t], d, f]\n}\n";
    struct {
        const char* tiles;
        double sectors;
    } const table[] = {{"group t by 1\nstream d by 64\n", 1},
                       {"group t by 1\ngroup f by 64\nstream d by 8\n", 1},
                       {"group t by 1\ngroup f by 8\nstream d by 64\n", 2},
                       {"group t by 1\ngroup f by 1\n", 16}};
    for (const auto& [tiles, sectors] : table)
        for (const RegionCost& cost : costs(experts, tiles)) {
            INFO(std::string(tiles));
            CHECK_EQ(sectors_of(cost, "W"), sectors);
        }
}

TEST_CASE("nothing is known of what data tells apart within a row") {
    const std::string chosen =
        "diagram chosen {\n axis n = 256, m = 512, k = 64\n input X[n, m] : bf16\n"
        " input place[k] : i32\n output Y[n, k] : bf16 = X[n, place[k]] * 2\n}\n";
    for (const RegionCost& cost : costs(chosen, "group n by 1\ngroup k by 4\n"))
        CHECK_EQ(sectors_of(cost, "X"), 1);
}

}  // namespace
}  // namespace napkin
