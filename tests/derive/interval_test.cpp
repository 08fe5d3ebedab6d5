// Interval reasoning against brute force: bounds are never too narrow, decided coverage is never
// wrong, and causal masks and windows are decided exactly.
#include "diagrams/interval.h"

#include <doctest/doctest.h>

#include <random>

#include "diagrams/evaluate.h"

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

double value_at(const std::vector<Axis>& axes, const Expression& expression, std::int64_t at_q,
                std::int64_t at_x) {
    if (const Number* number = std::get_if<Number>(&expression.node)) return number->value;
    if (const AxisIndex* index = std::get_if<AxisIndex>(&expression.node))
        return static_cast<double>(index->axis == kQ ? at_q : at_x);
    if (const SizeOf* size = std::get_if<SizeOf>(&expression.node))
        return static_cast<double>(axes[size->axis.index()].extent);
    const Apply& call = std::get<Apply>(expression.node);
    std::vector<double> arguments;
    for (const Expression& argument : call.arguments)
        arguments.push_back(value_at(axes, argument, at_q, at_x));
    return apply_function(call.function, arguments);
}

Coverage brute_force(const std::vector<Axis>& axes, const Expression& condition,
                     const Ranges& tile) {
    bool any = false;
    bool all = true;
    for (std::int64_t i = tile.at(kQ).low; i <= tile.at(kQ).high; ++i)
        for (std::int64_t j = tile.at(kX).low; j <= tile.at(kX).high; ++j) {
            const bool holds = value_at(axes, condition, i, j) != 0;
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

class RandomConditions {
public:
    explicit RandomConditions(std::uint64_t seed) : random_(seed) {}

    Expression condition(int depth) {
        const int kind = pick(depth > 0 ? 9 : 6);
        if (kind == 6) return apply(Function::And, {condition(depth - 1), condition(depth - 1)});
        if (kind == 7) return apply(Function::Or, {condition(depth - 1), condition(depth - 1)});
        if (kind == 8) return apply(Function::Not, {condition(depth - 1)});
        constexpr std::array kComparisons = {Function::Less,    Function::LessEqual,
                                             Function::Greater, Function::GreaterEqual,
                                             Function::Equal,   Function::NotEqual};
        return apply(kComparisons[static_cast<std::size_t>(kind)], {index(2), index(2)});
    }
    Expression index(int depth) {
        switch (pick(depth > 0 ? 9 : 3)) {
        case 0: return q();
        case 1: return x();
        case 2: return integer(pick(9) - 2);
        case 3: return apply(Function::Add, {index(depth - 1), index(depth - 1)});
        case 4: return apply(Function::Subtract, {index(depth - 1), index(depth - 1)});
        case 5: return apply(Function::FloorDivide, {index(depth - 1), integer(1 + pick(4))});
        case 6: return apply(Function::Modulo, {index(depth - 1), integer(1 + pick(4))});
        case 7: return apply(Function::Min, {index(depth - 1), index(depth - 1)});
        default:
            return apply(pick(2) == 0 ? Function::Max : Function::Abs,
                         pick(2) == 0 ? std::vector<Expression>{index(depth - 1), index(depth - 1)}
                                      : std::vector<Expression>{index(depth - 1)});
        }
    }
    int pick(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }

private:
    std::mt19937_64 random_;
};

/// Max takes two arguments and Abs one; the generator above draws them apart, so make them agree.
Expression well_formed(Expression expression) {
    return rewrite(std::move(expression), [](Expression node) {
        if (Apply* call = std::get_if<Apply>(&node.node)) {
            if (call->function == Function::Max && call->arguments.size() == 1)
                call->function = Function::Abs;
            if (call->function == Function::Abs && call->arguments.size() == 2)
                call->function = Function::Max;
        }
        return node;
    });
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
    RandomConditions random(20261121);
    const std::vector<Axis> axes = two_axes(11, 13);
    int decided = 0;
    for (int trial = 0; trial < 4000; ++trial) {
        const Expression condition = well_formed(random.condition(2));
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
        const Expression index = well_formed(random.index(3));
        const Ranges tile{{kQ, {2, 5}}, {kX, {1, 7}}};
        const std::optional<Interval> range = bounds(axes, index, tile);
        if (!range) continue;
        for (std::int64_t i = 2; i <= 5; ++i)
            for (std::int64_t k = 1; k <= 7; ++k) {
                const double value = value_at(axes, index, i, k);
                CHECK(value >= static_cast<double>(range->low));
                CHECK(value <= static_cast<double>(range->high));
            }
    }
}

}  // namespace napkin
