// Counted boxes against asking about every one of them, and against figures known beforehand.
#include "diagrams/index/box_count.h"

#include <doctest/doctest.h>

#include <string>

#include "diagrams/index/visit_count.h"
#include "tests/index/known_masks.h"
#include "tests/support/random_index.h"

namespace napkin::index {

namespace {

BoxCounts one_by_one(const std::vector<Axis>& axes, const Mask& mask, const Expression& condition,
                     std::int64_t g, std::int64_t s) {
    BoxCounts counts;
    for (std::int64_t i = 0; i < axes[0].extent; i += g)
        for (std::int64_t j = 0; j < axes[1].extent; j += s) {
            const Ranges box{{kQ, {i, std::min(i + g, axes[0].extent) - 1}},
                             {kX, {j, std::min(j + s, axes[1].extent) - 1}}};
            counts.met += mask.meets(box) ? 1 : 0;
            counts.covered += mask.covers(box) ? 1 : 0;
        }
    for (std::int64_t i = 0; i < axes[0].extent; ++i)
        for (std::int64_t j = 0; j < axes[1].extent; ++j)
            counts.points += test::value_at({axes, {{kQ, i}, {kX, j}}, {}}, condition) != 0 ? 1 : 0;
    return counts;
}

std::optional<BoxCounts> counted(const std::vector<Axis>& axes, const Mask& mask, std::int64_t g,
                                 std::int64_t s) {
    return BoxCounter(axes, mask, {{kQ, g}, {kX, s}}).count({});
}

}  // namespace

TEST_CASE("boxes are counted as they are one by one") {
    for (const auto& [queries, keys] : {std::pair{17, 17}, std::pair{40, 61}, std::pair{61, 9}}) {
        const std::vector<Axis> axes = two_axes(queries, keys);
        for (const Known& known : known_masks()) {
            CAPTURE(std::string(known.name));
            const Mask mask(axes, {known.mask});
            CHECK(mask.is_exact());
            for (const std::int64_t g : {1, 3, 4, 16})
                for (const std::int64_t s : {1, 2, 5, 8})
                    CHECK(counted(axes, mask, g, s) == one_by_one(axes, mask, known.mask, g, s));
        }
    }
}

TEST_CASE("any condition is counted as it is one by one") {
    test::RandomIndex random(20261123, {q(), x()});
    const std::vector<Axis> axes = two_axes(23, 29);
    int told = 0;
    for (int trial = 0; trial < 400; ++trial) {
        const Expression condition = random.condition(2);
        const Mask mask(axes, {condition});
        const std::int64_t g = 1 + random.pick(5);
        const std::int64_t s = 1 + random.pick(7);
        const std::optional<BoxCounts> counts = counted(axes, mask, g, s);
        if (!counts || !mask.is_exact()) continue;  // products of indices
        ++told;
        CHECK(counts == one_by_one(axes, mask, condition, g, s));
    }
    CHECK(told > 300);
}

TEST_CASE("tiles that are visited are counted as they are one by one, whatever the condition") {
    test::RandomIndex random(20261129, {q(), x()});
    const std::vector<Axis> axes = two_axes(23, 29);
    int told = 0;
    for (int trial = 0; trial < 400; ++trial) {
        const Expression condition = random.condition(3);
        const Mask mask(axes, {condition, causal()});
        const std::int64_t g = 1 + random.pick(5);
        const std::int64_t s = 1 + random.pick(7);
        VisitCounter counter(axes, mask, {{kQ, g}, {kX, s}});
        const std::optional<std::int64_t> met = counter.met();
        if (!met) continue;  // products of indices
        ++told;
        const BoxCounts each = one_by_one(axes, mask, condition, g, s);
        CHECK_EQ(*met, each.met);
        CHECK_EQ(counter.covered(), each.covered);
        std::int64_t by_rows = 0;
        for (std::int64_t row = 0; row < 23; row += g)
            by_rows += counter.met({{kQ, {row, std::min<std::int64_t>(row + g, 23) - 1}}}).value();
        CHECK_EQ(by_rows, each.met);
    }
    CHECK(told > 300);
}

TEST_CASE("a million tokens are counted at once") {
    const std::int64_t n = 1 << 20;
    const std::vector<Axis> axes = two_axes(n, n);
    const std::int64_t tiles = n / 128;
    const auto points = [&](const Expression& mask) {
        return counted(axes, Mask(axes, {mask}), 128, 64).value().points;
    };
    CHECK(counted(axes, Mask(axes, {causal()}), 128, 128) ==
          BoxCounts{tiles * (tiles + 1) / 2, tiles * (tiles - 1) / 2, n * (n + 1) / 2});
    CHECK(points(window(4096)) == 4096 * n - 4096 * 4095 / 2);
    CHECK(points(neighbourhood(2048, 1)) == 2048 * n);
    CHECK(points(dilated(100, 7)) == 100 * n - 7 * (100 * 99 / 2));
}

TEST_CASE("axes that are not cut are at an index, and others in a part") {
    const std::vector<Axis> axes = two_axes(10, 10);
    const Mask mask(axes, {causal()});
    BoxCounter counter(axes, mask, {{kX, 4}});
    CHECK_FALSE(counter.count({}));
    CHECK(counter.count({{kQ, 3}}) == BoxCounts{1, 1, 4});
    CHECK(counter.count({{kQ, 8}}) == BoxCounts{3, 2, 9});
    CHECK(counter.count({{kQ, 8}}, {{kX, {8, 9}}}) == BoxCounts{1, 0, 1});
}

TEST_CASE("maps show which tiles are met and covered") {
    const std::vector<Axis> axes = two_axes(10, 10);
    const Mask mask(axes, {causal()});
    const auto maps = BoxCounter(axes, mask, {{kQ, 5}, {kX, 4}}).maps({});
    REQUIRE(maps);
    REQUIRE(maps->size() == 1);
    const TileMap& map = maps->front();
    CHECK(map.tiles == std::vector<std::int64_t>{2, 3});
    using enum TileState;
    CHECK(map.states == std::vector<TileState>{Partial, Partial, Empty, Full, Partial, Partial});
}

}  // namespace napkin::index
