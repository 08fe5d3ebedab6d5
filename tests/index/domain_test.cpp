// Answers about all points of a domain against visiting every point.
#include "diagrams/index/domain.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>

#include "tests/index/two_axes.h"
#include "tests/support/random_index.h"

namespace napkin::index {

namespace {

const ArrayId kTable{0};

Expression at_most(Expression a, Expression b) {
    return apply(Function::LessEqual, {std::move(a), std::move(b)});
}

/// The values of an index at the points where a condition holds.
std::vector<double> values(const std::vector<Axis>& axes, const Expression& condition,
                           const Expression& index, const std::vector<std::int64_t>& table = {}) {
    std::vector<double> all;
    test::IndexPoint point{axes, {}, {{kTable, table}}};
    for (std::int64_t i = 0; i < axes[0].extent; ++i)
        for (std::int64_t j = 0; j < axes[1].extent; ++j) {
            point.at = {{kQ, i}, {kX, j}};
            if (test::value_at(point, condition) != 0) all.push_back(test::value_at(point, index));
        }
    return all;
}

double least(const std::vector<double>& values) {
    return *std::min_element(values.begin(), values.end());
}
double greatest(const std::vector<double>& values) {
    return *std::max_element(values.begin(), values.end());
}

/// What is said of a random index under a random condition must hold, and `exact` says all there
/// is.
void check_said(const Domain& domain, const Expression& index, const std::vector<double>& seen,
                double size, bool exact) {
    const Within within = is_within(domain, index, kX);
    const std::optional<Bounds> range = range_of(domain, index);
    const bool none = seen.empty();
    CHECK((!is_empty(domain) || none));
    CHECK((!within.above || none || least(seen) >= 0));
    CHECK((!within.below || none || greatest(seen) < size));
    CHECK((range.has_value() || none));
    if (range && !none) {
        CHECK((!range->low || static_cast<double>(*range->low) <= least(seen)));
        CHECK((!range->high || static_cast<double>(*range->high) >= greatest(seen)));
    }
    if (!exact) return;
    CHECK(is_empty(domain) == none);
    CHECK(within.above == (none || least(seen) >= 0));
    CHECK(within.below == (none || greatest(seen) < size));
    if (none || !range) return;
    CHECK(static_cast<double>(range->low.value()) == least(seen));
    CHECK(static_cast<double>(range->high.value()) == greatest(seen));
}

}  // namespace

TEST_CASE("answers about fixed sizes are exact") {
    test::RandomIndex random(20261123, {q(), x(), size_of(kX)});
    int inside = 0;
    for (int trial = 0; trial < 1000; ++trial) {
        const std::vector<Axis> axes = two_axes(1 + random.pick(7), 1 + random.pick(9));
        const Expression condition = random.condition(1);
        const Expression index = random.index(2);
        Domain domain(axes, {});
        domain.restrict_to(condition);
        inside += is_within(domain, index, kX).inside() ? 1 : 0;
        check_said(domain, index, values(axes, condition, index),
                   static_cast<double>(axes[1].extent), true);
        const std::vector<double> columns = values(axes, condition, x());
        CHECK(count_of(domain, kX) ==
              static_cast<std::int64_t>(std::set<double>(columns.begin(), columns.end()).size()));
        Domain rest(axes, {});
        rest.restrict_to(condition, false);
        CHECK(is_empty(rest) == values(axes, apply(Function::Not, {condition}), index).empty());
    }
    CHECK(inside > 100);
}

TEST_CASE("answers about run-time sizes hold at every size") {
    test::RandomIndex random(7, {q(), x(), size_of(kX), size_of(kQ)});
    int proved = 0;
    for (int trial = 0; trial < 400; ++trial) {
        const Expression condition = random.condition(1);
        const Expression index = random.index(2);
        const std::vector<Axis> any = two_axes(4, 4, true);
        Domain domain(any, {});
        domain.restrict_to(condition);
        proved += is_within(domain, index, kX).inside() ? 1 : 0;
        for (std::int64_t m : {1, 2, 5})
            for (std::int64_t n : {1, 3, 4})
                check_said(domain, index, values(two_axes(m, n), condition, index),
                           static_cast<double>(n), false);
    }
    CHECK(proved > 20);
}

TEST_CASE("elements of arrays may have every value in their range, the same in the same place") {
    test::RandomIndex random(
        11,
        {q(), x(), read(kTable, {q()}), read(kTable, {x()}), apply(Function::Multiply, {q(), x()}),
         apply(Function::Modulo, {x(), apply(Function::Add, {q(), integer(1)})})});
    int proved = 0;
    for (int trial = 0; trial < 300; ++trial) {
        const std::vector<Axis> axes = two_axes(5, 5);
        const Expression condition = random.condition(1);
        const Expression index = random.index(2);
        Domain domain(axes, [](ArrayId) { return std::optional(ElementRange{{-1, {}}, kX}); });
        domain.restrict_to(condition);
        proved += is_within(domain, index, kX).inside() ? 1 : 0;
        for (int filling = 0; filling < 4; ++filling) {
            std::vector<std::int64_t> table;
            for (int i = 0; i < 5; ++i) table.push_back(random.pick(6) - 1);
            check_said(domain, index, values(axes, condition, index, table), 5, false);
        }
    }
    CHECK(proved > 30);
}

TEST_CASE("what is said of bits holds at every size") {
    constexpr std::array kBits = {Function::BitAnd, Function::BitOr, Function::BitXor,
                                  Function::ShiftLeft, Function::ShiftRight};
    test::RandomIndex parts(29, {q(), x(), size_of(kX)});
    int proved = 0;
    for (int trial = 0; trial < 600; ++trial) {
        const bool dynamic = trial % 2 == 1;
        std::vector<Expression> bits;
        for (const Function function : kBits)
            bits.push_back(apply(function, {parts.index(1), parts.index(trial % 3 == 0 ? 0 : 1)}));
        test::RandomIndex random(static_cast<std::uint64_t>(trial), bits);
        const Expression condition = random.condition(1);
        const Expression index = random.index(1);
        const std::vector<Axis> any = two_axes(5, 4, dynamic);
        Domain domain(any, {});
        domain.restrict_to(condition);
        proved += is_within(domain, index, kX).inside() ? 1 : 0;
        for (const std::int64_t n : {4, 1, 7})
            if (dynamic || n == 4)
                check_said(domain, index, values(two_axes(5, n), condition, index),
                           static_cast<double>(n), false);
    }
    CHECK(proved > 60);
}

TEST_CASE("a comparison of reals is the same wherever it is written") {
    const std::vector<Axis> axes = two_axes(5, 5);
    const Expression small = apply(Function::Less, {read(kTable, {q()}), number(0.5)});
    Domain both_ways(axes, {});
    both_ways.restrict_to(small);
    CHECK_FALSE(is_empty(both_ways));
    both_ways.restrict_to(small, false);
    CHECK(is_empty(both_ways));
}

TEST_CASE("an index after a shift, a remainder and a clamp of run-time sizes is inside") {
    const std::vector<Axis> axes = two_axes(9, 9, true);
    const Domain domain(axes, {});
    const Expression last = apply(Function::Subtract, {size_of(kX), integer(1)});
    CHECK(is_within(domain, apply(Function::Subtract, {last, x()}), kX).inside());
    CHECK(is_within(domain, apply(Function::Modulo, {q(), size_of(kX)}), kX).inside());
    CHECK(is_within(domain, apply(Function::Min, {q(), last}), kX).inside());
    CHECK(is_within(domain, apply(Function::FloorDivide, {x(), size_of(kQ)}), kX).inside());
    CHECK_FALSE(is_within(domain, apply(Function::Add, {x(), integer(1)}), kX).below);
}

TEST_CASE("a question that is too hard stays open") {
    std::vector<Axis> axes;
    Expression index = integer(0);
    Expression condition = at_most(integer(0), integer(0));
    for (std::uint32_t i = 0; i < 10; ++i) {
        const AxisId axis{i};
        axes.push_back(two_axes(1000, 1)[0]);
        index = apply(i % 2 == 0 ? Function::Min : Function::Max,
                      {apply(Function::Add, {index, axis_index(axis)}),
                       apply(Function::Modulo,
                             {apply(Function::Multiply, {index, integer(3)}), integer(17 + i)})});
        condition = apply(Function::And,
                          {condition, apply(Function::NotEqual, {axis_index(axis), integer(7)})});
    }
    Domain domain(axes, {});
    domain.restrict_to(condition);
    CHECK_FALSE(is_within(domain, index, AxisId{0}).inside());
    CHECK_FALSE(is_empty(domain));
}

}  // namespace napkin::index
