// What kernels are counted to do, and how long that takes, by hand.
#include <doctest/doctest.h>

#include "perfmodel/block_time.h"
#include "perfmodel/kernel_choice.h"
#include "perfmodel/moved.h"
#include "schedule/plain_block.h"
#include "tests/perfmodel/derive_support.h"

namespace napkin {
namespace {

using test::derived;
using test::machine_of;

KernelWork plain_work_of(const std::string& diagram, const std::string& steps) {
    const State state = derived(diagram, steps);
    const RegionProgram region = test::expanded(state).regions.front();
    RegionCost cost = *cost_of(region);
    add_work(region, {"simt", {}, {}}, cost);
    REQUIRE(cost.work.has_value());
    REQUIRE_EQ(cost.work->target, "simt");
    return *cost.work;
}

TEST_CASE("threads of a plain kernel share a product in micro-tiles, each side read once") {
    struct Case {
        int rows, columns;
        std::int64_t warps;
        double steps;  ///< multiply-adds of a thread, for 16 of the depth
        double turns;  ///< reads of a warp
    };
    for (const Case& each : {
             Case{64, 64, 8, 16 * 4 * 4, 8 * 16 * (4 + 4)},  // 16 x 16 threads
             Case{32, 32, 4, 16 * 4 * 2, 4 * 16 * (4 + 2)},  // 8 x 16 threads
             Case{16, 16, 1, 16 * 4 * 2, 1 * 16 * (4 + 2)},  // 4 x 8 threads
         }) {
        CAPTURE(each.rows);
        const KernelWork work = plain_work_of(
            "diagram product { axis a = 1024, b = 1024, c = 1024\ninput X[a, b], W[c, b] : bf16\n"
            "output Y[a, c] : bf16 = sum(b) X[a, b] * W[c, b] }",
            "group a by " + std::to_string(each.rows) + "\ngroup c by " +
                std::to_string(each.columns) + "\nstream b by 16\n");
        CHECK_EQ(work.warps, each.warps);
        REQUIRE_EQ(work.loops.size(), 1);
        CHECK_EQ(work.loops.front().chunk.steps, each.steps);
        CHECK_EQ(work.loops.front().chunk.turns, each.turns);
    }
}

TEST_CASE("a scan reads what it begins with once a row, and lanes are put together once a rank") {
    const KernelWork scan = plain_work_of(
        "diagram sums { axis n = 1024, t = 4096\ninput X[n, t] : f32\n"
        "output C[n, t] : f32 = scan[t] sum X[n, t] }",
        "group n by 32\nstream t by 128\n");
    REQUIRE_EQ(scan.loops.size(), 1);
    // Of an element the sum, a read's latency of 6 and 4 for its place; of what is carried on, 4
    // rows a warp, 4 turns of 1 + 4 and 10 exchanges of 6.
    CHECK_EQ(scan.loops.front().chunk.steps, 128 * (1 + 6 + 4) + 4 * (4 * (1 + 4) + 10 * 6));

    const auto chosen = [](const std::string& ranks) {
        return plain_work_of("diagram choice { axis n = 1024, e = 64, k = " + ranks +
                                 "\ninput G[n, e] : f32\n"
                                 "output gate[n, k], expert[n, k] = topk[e](G[n, e]) }",
                             "group n by 8\n")
            .edges;
    };
    CHECK_EQ(chosen("8").steps, 8 * chosen("1").steps);
}

TEST_CASE("pieces of rows take device memory longer, most where the rest is for later chunks") {
    struct Case {
        double piece, row;
        bool in_chunks;
        double share;
    };
    for (const Case& each : {
             Case{512, 512, false, 0},                       // whole rows
             Case{128, 8192, false, 0.07},                   // 256 bytes of 512
             Case{16, 8192, false, 4 * 0.07},                // 32 bytes
             Case{64, 8192, true, 90.0 / 128 - 90.0 / 512},  // a page for every piece
             Case{128, 8192, true, 90.0 / 256 - 90.0 / 512},
             Case{256, 8192, true, 0},  // pieces of 512 bytes are long enough
             Case{64, 512, true, (90.0 / 128 - 90.0 / 512) / 8},  // a page has eight such rows
         }) {
        CAPTURE(each.piece);
        CHECK_EQ(apart_share(each.piece, each.row, 16, each.in_chunks),
                 doctest::Approx(each.share));
    }
}

/// Products of one block a processor, of which nothing but their copies takes time.
KernelWork copying(std::int64_t stages, std::int64_t held) {
    LoopWork loop;
    loop.chunk.loaded = 24576;
    loop.chunks = 1000;
    loop.loads = true;
    loop.stages = stages;
    loop.rings = {{24576, stages, held}};
    KernelWork work;
    work.tensor_core = true;
    work.groups = 1;
    work.blocks = 1;
    work.loaded = 24576.0 * 1000;
    work.compulsory = 24576;
    work.loops = {loop};
    return work;
}

TEST_CASE("a ring's next chunk comes when its place is read, given back and filled again") {
    const BlockClock clock(machine_of("H200,latency.copy=1us,cache.port=100TB/s"));
    const auto chunk = [&](std::int64_t stages, std::int64_t held) {
        const KernelWork work = copying(stages, held);
        KernelWork longer = work;
        longer.loops.front().chunks *= 2;
        return (clock.times_of(longer).high - clock.times_of(work).high) / 1000;
    };
    const double filled = chunk(2, 1);
    CHECK_GT(filled, 1e-6);
    CHECK_LT(filled, 1.1e-6);
    CHECK_EQ(chunk(2, 0), doctest::Approx(filled / 2));
    CHECK_EQ(chunk(4, 1), doctest::Approx(filled / 3));
}

}  // namespace
}  // namespace napkin
