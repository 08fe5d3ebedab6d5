// Interval reasoning against brute force: bounds are never too narrow, decided coverage is never
// wrong, and causal masks and windows are decided exactly.
#include "diagrams/interval.h"

#include <doctest/doctest.h>

#include "tests/support/random_index.h"

namespace napkin {

namespace {

const AxisId kQ{0};
const AxisId kX{1};

std::vector<Axis> two_axes(std::int64_t q, std::int64_t x) {
    std::vector<Axis> axes(2);
    axes[0].name = "q";
    axes[0].extent = q;
    axes[1].name = "x";
    axes[1].extent = x;
    return axes;
}

Expression q() {
    return axis_index(kQ);
}
Expression x() {
    return axis_index(kX);
}

test::IndexPoint point(const std::vector<Axis>& axes, std::int64_t at_q, std::int64_t at_x) {
    return {axes, {{kQ, at_q}, {kX, at_x}}, {}};
}

Coverage brute_force(const std::vector<Axis>& axes, const Expression& condition,
                     const Ranges& tile) {
    bool any = false;
    bool all = true;
    for (std::int64_t i = tile.at(kQ).low; i <= tile.at(kQ).high; ++i)
        for (std::int64_t j = tile.at(kX).low; j <= tile.at(kX).high; ++j) {
            const bool holds = test::value_at(point(axes, i, j), condition) != 0;
            any = any || holds;
            all = all && holds;
        }
    if (!any) return Coverage::Empty;
    return all ? Coverage::Full : Coverage::Partial;
}

Expression causal() {
    return apply(
        Function::LessEqual,
        {x(), apply(Function::Subtract, {apply(Function::Add, {q(), size_of(kX)}), size_of(kQ)})});
}

Expression window(std::int64_t width) {
    return apply(Function::And,
                 {apply(Function::LessEqual, {x(), q()}),
                  apply(Function::Less, {apply(Function::Subtract, {q(), x()}), integer(width)})});
}

/// Every tile of both axes, with the ragged last ones.
template <class Visitor>
void for_each_tile(const std::vector<Axis>& axes, std::int64_t g, std::int64_t s,
                   const Visitor& visit) {
    for (std::int64_t i = 0; i < axes[0].extent; i += g)
        for (std::int64_t j = 0; j < axes[1].extent; j += s)
            visit(Ranges{{kQ, {i, std::min(i + g, axes[0].extent) - 1}},
                         {kX, {j, std::min(j + s, axes[1].extent) - 1}}});
}

}  // namespace

TEST_CASE("causal masks and sliding windows are decided exactly") {
    for (const auto& [queries, keys] : {std::pair{17, 17}, std::pair{5, 23}, std::pair{23, 5}}) {
        const std::vector<Axis> axes = two_axes(queries, keys);
        for (const Expression& mask : {causal(), window(1), window(4), window(30)})
            for (std::int64_t g : {1, 3, 4, 16})
                for (std::int64_t s : {1, 2, 5, 8})
                    for_each_tile(axes, g, s, [&](const Ranges& tile) {
                        CHECK(coverage(axes, mask, tile) == brute_force(axes, mask, tile));
                    });
    }
}

TEST_CASE("no decision about a tile is wrong, and bounds are never too narrow") {
    test::RandomIndex random(20261121, {q(), x()});
    const std::vector<Axis> axes = two_axes(11, 13);
    int decided = 0;
    for (int trial = 0; trial < 4000; ++trial) {
        const Expression condition = random.condition(2);
        const std::int64_t i = random.pick(11);
        const std::int64_t j = random.pick(13);
        const Ranges tile{{kQ, {i, std::min<std::int64_t>(10, i + random.pick(4))}},
                          {kX, {j, std::min<std::int64_t>(12, j + random.pick(4))}}};
        const Coverage claimed = coverage(axes, condition, tile);
        if (claimed == Coverage::Partial) continue;
        ++decided;
        CHECK(claimed == brute_force(axes, condition, tile));
    }
    CHECK(decided > 1500);
    for (int trial = 0; trial < 4000; ++trial) {
        const Expression index = random.index(3);
        const Ranges tile{{kQ, {2, 5}}, {kX, {1, 7}}};
        const std::optional<Interval> range = bounds(axes, index, tile);
        if (!range) continue;
        for (std::int64_t i = 2; i <= 5; ++i)
            for (std::int64_t k = 1; k <= 7; ++k) {
                const double value = test::value_at(point(axes, i, k), index);
                CHECK(value >= static_cast<double>(range->low));
                CHECK(value <= static_cast<double>(range->high));
            }
    }
}

}  // namespace napkin
