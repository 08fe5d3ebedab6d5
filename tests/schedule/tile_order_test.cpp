// Blocks that go through graded tiles there and back end at about the same time.
#include "schedule/tile_order.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace napkin::schedule {
namespace {

TileOrder causal(std::int64_t grades, std::int64_t others) {
    TileOrder order;
    order.tiles = grades * others;
    for (std::int64_t chunks = grades; chunks > 0; --chunks) order.grades.push_back(chunks);
    return order;
}

/// The chunks of every tile in the order that kernels compute them: of so many others together the
/// longest, then all shorter ones.
std::vector<std::int64_t> in_order(const TileOrder& order, std::int64_t together) {
    const auto grades = static_cast<std::int64_t>(order.grades.size());
    const std::int64_t others = order.tiles / grades;
    std::vector<std::int64_t> chunks;
    for (std::int64_t tile = 0; tile < order.tiles; ++tile) {
        const std::int64_t band = tile / (together * grades) * together;
        const std::int64_t height = std::min(together, others - band);
        const std::int64_t grade = tile % (together * grades) / height;
        chunks.push_back(order.grades[static_cast<std::size_t>(grade)]);
    }
    return chunks;
}

/// What the last block to end computes, with one chunk's time more a tile, by the mean.
double last(const std::vector<std::int64_t>& tiles, std::int64_t blocks) {
    std::int64_t all = 0;
    std::int64_t most = 0;
    for (std::int64_t block = 0; block < blocks; ++block) {
        std::int64_t own = 0;
        for (std::int64_t turn = 0;; ++turn) {
            const std::int64_t at = turn * blocks + (turn % 2 == 0 ? block : blocks - 1 - block);
            if (at < static_cast<std::int64_t>(tiles.size()))
                own += tiles[static_cast<std::size_t>(at)] + 1;
            if ((turn + 1) * blocks >= static_cast<std::int64_t>(tiles.size())) break;
        }
        all += own;
        most = std::max(most, own);
    }
    return static_cast<double>(most * blocks) / static_cast<double>(all);
}

}  // namespace

TEST_CASE("blocks that go through a causal mask end at about the same time") {
    for (const std::int64_t blocks : {kProcessors, 2 * kProcessors})
        for (std::int64_t grades = 2; grades <= 128; grades *= 2)
            for (const std::int64_t tiles : {2048, 4096, 8192}) {
                const std::int64_t others = tiles / grades;
                const TileOrder order = causal(grades, others);
                const std::int64_t together = even_together(order, blocks);
                INFO(blocks, " blocks, ", grades, " by ", others, ", ", together, " together");
                CHECK_GE(together, 1);
                CHECK_LE(together, others);
                CHECK_LE(last(in_order(order, together), blocks), 1.05);
            }
}

TEST_CASE("tiles that many others have are together where they are even, not all at once") {
    // Of 512 sequences of 8 tiles each: 64 together would leave a block half as much again as the
    // mean.
    const TileOrder order = causal(8, 512);
    CHECK_GT(last(in_order(order, 64), 2 * kProcessors), 1.4);
    CHECK_LE(even_together(order, 2 * kProcessors), 64);
    CHECK_EQ(even_together(causal(4, 1 << 20), kProcessors), 64);
}

}  // namespace napkin::schedule
