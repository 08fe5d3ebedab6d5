// Counted boxes against asking about every one of them, and against figures known beforehand.
#include "diagrams/index/box_count.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/index/known_masks.h"
#include "tests/support/random_index.h"

namespace napkin::index {

namespace {

struct Counts {
    std::int64_t met = 0;
    std::int64_t covered = 0;
    bool operator==(const Counts&) const = default;
};

Counts one_by_one(const std::vector<Axis>& axes, const Mask& mask, std::int64_t g, std::int64_t s) {
    Counts counts;
    for (std::int64_t i = 0; i < axes[0].extent; i += g)
        for (std::int64_t j = 0; j < axes[1].extent; j += s) {
            const Ranges box{{kQ, {i, std::min(i + g, axes[0].extent) - 1}},
                             {kX, {j, std::min(j + s, axes[1].extent) - 1}}};
            counts.met += mask.meets(box) ? 1 : 0;
            counts.covered += mask.covers(box) ? 1 : 0;
        }
    return counts;
}

Counts counted(const std::vector<Axis>& axes, const Mask& mask, std::int64_t g, std::int64_t s) {
    const std::vector<Tiling> tilings{{kQ, g}, {kX, s}};
    const auto met = BoxCounter(axes, mask, mask.where_met(), tilings).count({});
    const auto covered = BoxCounter(axes, mask, mask.where_covered(), tilings).count({});
    REQUIRE((met && covered));
    return {*met, *covered};
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
                    CHECK(counted(axes, mask, g, s) == one_by_one(axes, mask, g, s));
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
        const std::vector<Tiling> tilings{{kQ, g}, {kX, s}};
        const auto met = BoxCounter(axes, mask, mask.where_met(), tilings).count({});
        const auto covered = BoxCounter(axes, mask, mask.where_covered(), tilings).count({});
        if (!met || !covered) continue;  // products of indices
        ++told;
        CHECK(Counts{*met, *covered} == one_by_one(axes, mask, g, s));
    }
    CHECK(told > 300);
}

TEST_CASE("a million tokens are counted at once") {
    const std::int64_t n = 1 << 20;
    const std::vector<Axis> axes = two_axes(n, n);
    const std::int64_t tiles = n / 128;
    CHECK(counted(axes, Mask(axes, {causal()}), 128, 128) ==
          Counts{tiles * (tiles + 1) / 2, tiles * (tiles - 1) / 2});
    CHECK(counted(axes, Mask(axes, {causal()}), 1, 1).met == n * (n + 1) / 2);
    const Mask band(axes, {window(4096)});
    CHECK(counted(axes, band, 1, 1).met == 4096 * n - 4096 * 4095 / 2);
    CHECK(counted(axes, Mask(axes, {neighbourhood(2048, 1)}), 1, 1).met == 2048 * n);
    const Mask comb(axes, {dilated(100, 7)});
    CHECK(counted(axes, comb, 1, 1).met == 100 * n - 7 * (100 * 99 / 2));
}

TEST_CASE("axes that are not cut are whole, or where one says") {
    const std::vector<Axis> axes = two_axes(10, 10);
    const Mask mask(axes, {causal()});
    BoxCounter counter(axes, mask, mask.where_met(), {{kX, 1}});
    CHECK(counter.count({}) == 10);
    CHECK(counter.count({{kQ, {3, 3}}}) == 4);
    CHECK(counter.count({{kQ, {0, 6}}}) == 7);
}

}  // namespace napkin::index
