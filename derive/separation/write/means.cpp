// Means in the body: constant ones from the first chunk that has an element, moving ones between
// gauges and the states that are relative to them.
#include "derive/separation/algebra/mentions.h"
#include "derive/separation/write/builder.h"
#include "diagrams/infinity.h"

namespace napkin::separation {

void Builder::find_means(PolynomialId polynomial) {
    (void)mentions(algebra_, polynomial, [&](TermId id) {
        if (algebra_[id].kind == Kind::Mean) (void)mean_array(algebra_[id].ref);
        return false;
    });
}

/// The mean of the first chunk that has an element, infinite until then.
void Builder::build_held_mean(std::uint32_t mean) {
    const MeanGauge variable = plan_.means()[mean];
    const ArrayId target = mean_array(mean);
    const std::string name = array(target).name;
    serving_ = 0;
    const auto total = [&](const std::string& suffix, const std::vector<AxisId>& axes,
                           Expression value) {
        const ArrayId made = make_array(name + suffix, axes, ElementType::F32);
        Fold fold;
        fold.monoid = kSum;
        fold.over = variable.over;
        fold.values.push_back(guarded(std::move(value), variable.guards, 0, Where::Chunk));
        body_.push_back({.targets = {made},
                         .body = std::move(fold),
                         .box = box_of(serving_),
                         .span = span_of(serving_)});
        return made;
    };
    const bool everywhere = variable.guards.empty();
    const ArrayId sum = total("_sum", variable.axes, expression(variable.value, Where::Chunk));
    const ArrayId count =
        total("_count", everywhere ? std::vector<AxisId>{} : variable.axes, number(1, false));
    initialise(target, number(kInfinity));
    Expression average =
        apply(Function::Guard, {apply(Function::Divide, {read_array(sum), read_array(count)})});
    if (!everywhere)
        average =
            apply(Function::Select, {apply(Function::Greater, {read_array(count), integer(0)}),
                                     std::move(average), number(kInfinity)});
    Expression known = apply(Function::Less, {read_array(target), number(kInfinity)});
    body_.push_back(statement(target, apply(Function::Select, {std::move(known), read_array(target),
                                                               std::move(average)})));
    keep_mean(mean, {.policy = GaugePolicy::Held, .next = target, .may_lack = !everywhere});
}

/// The mean by weight of everything so far.
void Builder::build_running_mean(std::uint32_t mean) {
    const MeanGauge variable = plan_.means()[mean];
    const std::uint32_t weight = plan_.weight_state(mean);
    build_early(weight);
    serving_ = plan_.states()[weight].serves;
    const ArrayId target = mean_array(mean);
    const std::string name = array(target).name;
    const ArrayId total = next_arrays_.at(weight);
    Expression before = read_array(state_array(weight));
    if (variable.gauge != kZero)
        before = apply(Function::Multiply, {std::move(before), read_array(repair(variable.gauge))});
    const Monomial weighted =
        algebra_.multiply(*variable.weight, Monomial{.powers = {{variable.value, 1}}});
    const StateVariable sums{.monoid = kSum,
                             .over = variable.over,
                             .axes = variable.axes,
                             .form = algebra_.monomial(weighted),
                             .gauge = variable.gauge};
    const ArrayId sum = make_array(name + "_sum", variable.axes, ElementType::F32);
    body_.push_back(
        fold_statement(sum, sums, contraction(sums),
                       apply(Function::Multiply, {read_array(target), std::move(before)})));
    initialise(target, number(0));
    const std::set<AxisId> axes(variable.axes.begin(), variable.axes.end());
    Expression average = apply(Function::Divide, {read_array(sum), read_array(total)});
    if (*variable.weight == Monomial{})
        average = apply(Function::Guard, {std::move(average)});
    else
        average =
            apply(Function::Select, {apply(Function::NotEqual, {read_array(total), integer(0)}),
                                     std::move(average), read_array(target)});
    const ArrayId next = make_array(name + "_new", variable.axes, ElementType::F32);
    body_.push_back(statement(next, std::move(average)));
    const bool alike = *variable.weight == Monomial{};
    Gauge gauge{.next = next, .total = state_array(weight), .may_lack = !alike};
    if (!alike)
        for (const Statement& each : body_)
            if (each.targets.front() == total)
                gauge.weight = std::get<Fold>(each.body).values.front();
    keep_mean(mean, std::move(gauge));
    const TermId moving = algebra_.reference(Kind::Mean, mean, variable.axes);
    moves_.emplace(moving, helper("_move", axes,
                                  apply(Function::Subtract, {read_array(target), read_array(next)}),
                                  ElementType::F32, name));
    body_.push_back(statement(target, read_array(next)));
}

void Builder::keep_mean(std::uint32_t mean, Gauge gauge) {
    const MeanGauge& variable = plan_.means()[mean];
    gauge.of = Gauge::Of::Mean;
    gauge.state = mean_array(mean);
    gauge.value = expression(variable.value, Where::Chunk);
    gauge.over = variable.over;
    result_.states.push_back(
        {.state = gauge.state, .keeps = AccumulatorState::Keeps::Gauge, .monoid = kSum});
    result_.gauges.push_back(std::move(gauge));
}

}  // namespace napkin::separation
