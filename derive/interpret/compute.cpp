#include "derive/interpret/compute.h"

#include <algorithm>
#include <utility>

#include "diagrams/overloaded.h"

namespace napkin {

ComputeRunner::ComputeRunner(const RegionProgram& region, const Compute& compute,
                             std::vector<Tile>& tiles, const std::map<ArrayId, double>& parameters,
                             Arithmetic arithmetic)
    : region_(region),
      compute_(compute),
      tiles_(tiles),
      arithmetic_(arithmetic),
      position_(region.axes.size(), 0) {
    for (VariableId read : compute.reads)
        bind_[region.variables[read.index()].array] = {&tiles[read.index()], 0};
    for (const auto& [array, value] : parameters) bind_[array] = {nullptr, value};
}

void ComputeRunner::run(const LevelRanges& ranges) {
    ranges_ = &ranges;
    std::visit(
        overloaded{
            [&](const Map& map) { run_map(map); },
            [&](const Fold& fold) { fold.every_prefix ? run_scan(fold) : run_fold(fold); },
            [&](const Select& select) { run_select(select); },
            [&](const Opaque&) { throw InternalError("an opaque box has no meaning to execute"); },
        },
        compute_.statement.body);
}

CompiledExpression ComputeRunner::compile(const Expression& expression) const {
    return {region_.axes, expression, bind_};
}

std::vector<CompiledExpression> ComputeRunner::compile_all(
    const std::vector<Expression>& list) const {
    std::vector<CompiledExpression> compiled;
    for (const Expression& expression : list) compiled.push_back(compile(expression));
    return compiled;
}

std::vector<Interval> ComputeRunner::box_of(const std::vector<AxisId>& axes) const {
    std::vector<Interval> box;
    for (AxisId axis : axes) box.push_back(ranges_->at(compute_.level, axis));
    return box;
}

std::vector<AxisId> ComputeRunner::target_axes() const {
    return region_.arrays[compute_.statement.targets.front().index()].axes;
}

void ComputeRunner::move_to(const std::vector<AxisId>& axes,
                            const std::vector<std::int64_t>& index) {
    for (std::size_t k = 0; k < axes.size(); ++k) position_[axes[k].index()] = index[k];
}

void ComputeRunner::write(std::size_t target, double value) {
    const Variable& variable = region_.variables[compute_.targets[target].index()];
    const Array& array = region_.arrays[variable.array.index()];
    Tile& tile = tiles_[compute_.targets[target].index()];
    std::vector<std::int64_t> index;
    for (AxisId axis : array.axes) index.push_back(position_[axis.index()]);
    if (arithmetic_ == Arithmetic::Storage)
        value = round_to(variable.type, value);
    else if (array.rounds)
        value = round_to(array.type, value);
    tile.values[tile.offset(index)] = value;
}

void ComputeRunner::run_map(const Map& map) {
    const CompiledExpression value = compile(map.value);
    const std::vector<AxisId> axes = target_axes();
    for_each_index(box_of(axes), [&](const std::vector<std::int64_t>& index) {
        move_to(axes, index);
        write(0, value.evaluate(position_));
    });
}

void ComputeRunner::combine(MonoidId monoid, const std::vector<CompiledExpression>& rule,
                            std::vector<double>& state, const std::vector<double>& values) const {
    if (monoid == kSum) {
        const std::array<double, 2> both{state[0], values[0]};
        state[0] = apply_function(Function::Add, both);
    } else if (monoid == kMax) {
        state[0] = std::max(state[0], values[0]);
    } else {
        std::vector<double> operands = state;
        operands.insert(operands.end(), values.begin(), values.end());
        for (std::size_t i = 0; i < state.size(); ++i)
            state[i] = rule[i].evaluate(position_, operands.data());
    }
    if (arithmetic_ == Arithmetic::Storage)
        for (double& component : state) component = round_to(ElementType::F32, component);
}

std::vector<double> ComputeRunner::start(const Fold& fold,
                                         const std::vector<CompiledExpression>& seed) const {
    std::vector<double> state;
    if (!fold.seed.empty()) {
        for (const CompiledExpression& expression : seed)
            state.push_back(expression.evaluate(position_));
        return state;
    }
    for (const Expression& identity : region_.monoids[fold.monoid.index()].identity)
        state.push_back(compile(identity).evaluate(position_));
    return state;
}

void ComputeRunner::run_fold(const Fold& fold) {
    const std::vector<CompiledExpression> values = compile_all(fold.values);
    const std::vector<CompiledExpression> seed = compile_all(fold.seed);
    const std::vector<CompiledExpression> rule =
        compile_all(region_.monoids[fold.monoid.index()].combine);
    const std::vector<AxisId> axes = target_axes();
    const std::vector<Interval> inner = box_of(fold.over);
    std::vector<double> element(values.size());
    for_each_index(box_of(axes), [&](const std::vector<std::int64_t>& index) {
        move_to(axes, index);
        std::vector<double> state = start(fold, seed);
        for_each_index(inner, [&](const std::vector<std::int64_t>& at) {
            move_to(fold.over, at);
            for (std::size_t i = 0; i < values.size(); ++i)
                element[i] = values[i].evaluate(position_);
            combine(fold.monoid, rule, state, element);
        });
        for (std::size_t i = 0; i < state.size(); ++i) write(i, state[i]);
    });
}

void ComputeRunner::run_scan(const Fold& fold) {
    const std::vector<CompiledExpression> values = compile_all(fold.values);
    const std::vector<CompiledExpression> seed = compile_all(fold.seed);
    const std::vector<CompiledExpression> rule =
        compile_all(region_.monoids[fold.monoid.index()].combine);
    std::vector<AxisId> axes = target_axes();
    std::erase(axes, fold.over.front());
    std::vector<double> element(values.size());
    for_each_index(box_of(axes), [&](const std::vector<std::int64_t>& index) {
        move_to(axes, index);
        std::vector<double> state = start(fold, seed);
        for_each_index(box_of(fold.over), [&](const std::vector<std::int64_t>& at) {
            move_to(fold.over, at);
            for (std::size_t i = 0; i < values.size(); ++i)
                element[i] = values[i].evaluate(position_);
            combine(fold.monoid, rule, state, element);
            for (std::size_t i = 0; i < state.size(); ++i) write(i, state[i]);
        });
    });
}

void ComputeRunner::run_select(const Select& select) {
    const CompiledExpression value = compile(select.value);
    std::vector<AxisId> axes = target_axes();
    if (select.rank) std::erase(axes, *select.rank);
    for_each_index(box_of(axes), [&](const std::vector<std::int64_t>& index) {
        move_to(axes, index);
        std::vector<std::pair<double, std::int64_t>> elements;
        for_each_index(box_of({select.over}), [&](const std::vector<std::int64_t>& at) {
            move_to({select.over}, at);
            elements.emplace_back(value.evaluate(position_), at.front());
        });
        std::stable_sort(elements.begin(), elements.end(),
                         [](const auto& a, const auto& b) { return a.first > b.first; });
        const Interval ranks =
            select.rank ? ranges_->at(compute_.level, *select.rank) : Interval{0, 0};
        for (std::int64_t rank = ranks.low; rank <= ranks.high; ++rank) {
            if (select.rank) position_[select.rank->index()] = rank;
            write(0, elements[static_cast<std::size_t>(rank)].first);
            write(1, static_cast<double>(elements[static_cast<std::size_t>(rank)].second));
        }
    });
}

}  // namespace napkin
