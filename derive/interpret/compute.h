// One Compute of a tile program, executed on tiles of a domain's values.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "derive/interpret/compiled_expression.h"
#include "derive/interpret/domain.h"
#include "derive/interpret/memory.h"
#include "diagrams/overloaded.h"
#include "diagrams/value_kind.h"

namespace napkin {

/// Executes a statement under the ranges of its level.
template <class Domain>
class ComputeRunner {
public:
    using Value = typename Domain::Value;
    /// `tiles` are by variable; `parameters` by array.
    ComputeRunner(Domain& domain, const RegionProgram& region, const Compute& compute,
                  std::vector<Tile<Value>>& tiles, const std::map<ArrayId, Value>& parameters)
        : domain_(domain),
          region_(region),
          compute_(compute),
          tiles_(tiles),
          position_(region.axes.size(), 0) {
        for (VariableId read : compute.reads)
            bind_[region.variables[read.index()].array] = {&tiles[read.index()], {}};
        for (const auto& [array, value] : parameters) bind_[array] = {nullptr, value};
        const Diagram scope = scope_of(region);
        for (std::size_t i = 0; i < compute.targets.size(); ++i)
            reals_.push_back(computes_reals(scope, compute.statement, i));
        std::visit(overloaded{
                       [&](const Map& map) { values_.push_back(compile(map.value)); },
                       [&](const Fold& fold) {
                           const Monoid& monoid = region.monoids[fold.monoid.index()];
                           values_ = compile_all(fold.values);
                           seed_ = compile_all(fold.seed);
                           rule_ = compile_all(monoid.combine);
                           identity_ = values_of(compile_all(monoid.identity));
                       },
                       [&](const Select& select) { values_.push_back(compile(select.value)); },
                       [](const Opaque&) {},
                   },
                   compute.statement.body);
    }

    void run(const LevelRanges& ranges) {
        ranges_ = &ranges;
        std::visit(overloaded{
                       [&](const Map&) { run_map(); },
                       [&](const Fold& fold) { run_fold(fold); },
                       [&](const Select& select) { run_select(select); },
                       [&](const Opaque&) {
                           throw InternalError("an opaque box has no meaning to execute");
                       },
                   },
                   compute_.statement.body);
    }

private:
    using Compiled = CompiledExpression<Domain>;
    using State = std::vector<Value>;

    void run_map();
    void run_fold(const Fold& fold);
    void run_select(const Select& select);
    [[nodiscard]] Compiled compile(const Expression& expression) const {
        return {domain_, region_.axes, expression, bind_};
    }
    [[nodiscard]] std::vector<Compiled> compile_all(const std::vector<Expression>& list) const {
        std::vector<Compiled> compiled;
        for (const Expression& expression : list) compiled.push_back(compile(expression));
        return compiled;
    }
    [[nodiscard]] State values_of(const std::vector<Compiled>& list) const {
        State values;
        for (const Compiled& expression : list) values.push_back(expression.evaluate(position_));
        return values;
    }
    void write(std::size_t target, const Value& value);
    void write_all(const State& state) {
        for (std::size_t i = 0; i < state.size(); ++i) write(i, state[i]);
    }
    [[nodiscard]] std::vector<Interval> ranges_of(const std::vector<AxisId>& axes) const {
        std::vector<Interval> box;
        for (AxisId axis : axes) box.push_back(ranges_->at(compute_.level, axis));
        return box;
    }
    [[nodiscard]] std::vector<AxisId> target_axes() const {
        return region_.arrays[compute_.statement.targets.front().index()].axes;
    }
    void move_to(const std::vector<AxisId>& axes, const std::vector<std::int64_t>& index) {
        for (std::size_t k = 0; k < axes.size(); ++k) position_[axes[k].index()] = index[k];
    }

    Domain& domain_;
    const RegionProgram& region_;
    const Compute& compute_;
    std::vector<Tile<Value>>& tiles_;
    typename Compiled::Bind bind_;
    const LevelRanges* ranges_ = nullptr;
    std::vector<std::int64_t> position_;
    std::vector<bool> reals_;  ///< which components are real numbers
    std::vector<Compiled> values_;
    std::vector<Compiled> seed_;  ///< of a fold, as the following
    std::vector<Compiled> rule_;
    State identity_;
    std::vector<std::int64_t> index_;  ///< of what is written, kept for its room
};

template <class Domain>
void ComputeRunner<Domain>::write(std::size_t target, const Value& value) {
    const Variable& variable = region_.variables[compute_.targets[target].index()];
    const Array& array = region_.arrays[variable.array.index()];
    Tile<Value>& tile = tiles_[compute_.targets[target].index()];
    index_.clear();
    for (AxisId axis : array.axes) index_.push_back(position_[axis.index()]);
    tile.values[tile.offset(index_)] = domain_.written(array, variable.type, value);
}

template <class Domain>
void ComputeRunner<Domain>::run_map() {
    const std::vector<AxisId> axes = target_axes();
    for_each_index(ranges_of(axes), [&](const std::vector<std::int64_t>& index) {
        move_to(axes, index);
        write(0, values_.front().evaluate(position_));
    });
}

template <class Domain>
void ComputeRunner<Domain>::run_fold(const Fold& fold) {
    std::vector<AxisId> axes = target_axes();
    if (fold.every_prefix) std::erase(axes, fold.over.front());
    const std::vector<Interval> inner = ranges_of(fold.over);
    for_each_index(ranges_of(axes), [&](const std::vector<std::int64_t>& index) {
        move_to(axes, index);
        State state = seed_.empty() ? identity_ : values_of(seed_);
        State element(values_.size());
        State operands;
        for_each_index(inner, [&](const std::vector<std::int64_t>& at) {
            move_to(fold.over, at);
            for (std::size_t i = 0; i < values_.size(); ++i)
                element[i] = values_[i].evaluate(position_);
            operands.clear();
            const auto combined = [&](std::size_t i) {
                if (operands.empty()) {
                    operands = state;
                    operands.insert(operands.end(), element.begin(), element.end());
                }
                return rule_[i].evaluate(position_, operands.data());
            };
            domain_.absorb(fold.monoid, identity_, state, element, combined);
            if constexpr (requires { domain_.accumulated(state[0]); })
                for (std::size_t i = 0; i < state.size(); ++i)
                    if (reals_[i]) state[i] = domain_.accumulated(state[i]);
            if (!fold.every_prefix) return;
            State prefix = state;
            domain_.finish(fold.monoid, prefix);
            write_all(prefix);
        });
        if (fold.every_prefix) return;
        domain_.finish(fold.monoid, state);
        write_all(state);
    });
}

template <class Domain>
void ComputeRunner<Domain>::run_select(const Select& select) {
    std::vector<AxisId> axes = target_axes();
    if (select.rank) std::erase(axes, *select.rank);
    const Interval ranks = select.rank ? ranges_->at(compute_.level, *select.rank) : Interval{0, 0};
    for_each_index(ranges_of(axes), [&](const std::vector<std::int64_t>& index) {
        move_to(axes, index);
        Candidates<Value> elements;
        for_each_index(ranges_of({select.over}), [&](const std::vector<std::int64_t>& at) {
            move_to({select.over}, at);
            elements.emplace_back(values_.front().evaluate(position_), at.front());
        });
        const auto best = domain_.select(std::move(elements), ranks.high + 1);
        for (std::int64_t rank = ranks.low; rank <= ranks.high; ++rank) {
            if (select.rank) position_[select.rank->index()] = rank;
            write(0, best[static_cast<std::size_t>(rank)].first);
            write(1, best[static_cast<std::size_t>(rank)].second);
        }
    });
}

}  // namespace napkin
