#include "tests/separation/executor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diagrams/overloaded.h"

namespace napkin::test {
namespace {

using Index = std::map<AxisId, std::int64_t>;

class Machine {
public:
    Machine(const Diagram& diagram, const Accumulator& accumulator, const Tensors& inputs)
        : scope_(diagram), axis_(accumulator.axes.front()), values_(inputs) {
        scope_.arrays.insert(scope_.arrays.end(), accumulator.arrays.begin(),
                             accumulator.arrays.end());
        end_ = scope_[axis_].extent;
    }

    void restrict_to(std::int64_t begin, std::int64_t end) {
        begin_ = begin;
        end_ = end;
    }
    void poison(ArrayId array) {
        Tensor tensor = make_tensor(scope_, array);
        std::fill(tensor.values.begin(), tensor.values.end(), std::nan(""));
        values_[array] = std::move(tensor);
    }
    [[nodiscard]] bool has(ArrayId array) const { return values_.contains(array); }
    [[nodiscard]] const Tensor& tensor(ArrayId array) const { return values_.at(array); }
    [[nodiscard]] double largest_exponent() const { return largest_exponent_; }

    void run(const Statement& statement) {
        for (const ArrayId target : statement.targets)
            if (!has(target)) poison(target);
        std::visit(overloaded{
                       [&](const Map& map) { run_map(statement, map); },
                       [&](const Fold& fold) { run_fold(statement, fold); },
                       [&](const Select& select) { run_select(statement, select); },
                       [](const Opaque&) { throw InternalError("an opaque box cannot run"); },
                   },
                   statement.body);
    }

private:
    Diagram scope_;
    AxisId axis_;
    Tensors values_;
    std::int64_t begin_ = 0;
    std::int64_t end_ = 0;
    double largest_exponent_ = -1e300;

    template <class Visit>
    void loop(const std::vector<AxisId>& axes, Index& index, const Visit& visit,
              std::size_t at = 0) {
        if (at == axes.size()) return visit();
        const bool streamed = axes[at] == axis_;
        const std::int64_t first = streamed ? begin_ : 0;
        const std::int64_t last = streamed ? end_ : scope_[axes[at]].extent;
        for (std::int64_t i = first; i < last; ++i) {
            index[axes[at]] = i;
            loop(axes, index, visit, at + 1);
        }
    }

    double value(const Expression& expression, const Index& index,
                 const std::vector<double>& operands = {}) {
        return std::visit(
            overloaded{
                [](const Number& number) { return number.value; },
                [&](const AxisIndex& axis) { return static_cast<double>(index.at(axis.axis)); },
                [&](const SizeOf& size) { return static_cast<double>(scope_[size.axis].extent); },
                [&](const Read& element) { return element_of(element, index); },
                [&](const Apply& call) { return call_value(call, index, operands); },
                [&](const Convert& convert) {
                    return round_to(convert.type, value(convert.argument.front(), index, operands));
                },
                [&](const Operand& operand) { return operands.at(operand.slot); },
            },
            expression.node);
    }

    double element_of(const Read& element, const Index& index) {
        std::vector<std::int64_t> position;
        for (const Expression& one : element.index)
            position.push_back(static_cast<std::int64_t>(value(one, index)));
        const auto found = values_.find(element.array);
        if (found == values_.end())
            throw InternalError("`" + scope_[element.array].name + "` is read before it exists");
        return found->second.values.at(static_cast<std::size_t>(found->second.offset(position)));
    }

    double call_value(const Apply& call, const Index& index, const std::vector<double>& operands) {
        if (call.function == Function::Select)
            return value(call.arguments[value(call.arguments[0], index, operands) != 0 ? 1 : 2],
                         index, operands);
        std::vector<double> arguments;
        for (const Expression& argument : call.arguments)
            arguments.push_back(value(argument, index, operands));
        if (call.function == Function::Exp)
            largest_exponent_ = std::max(largest_exponent_, arguments[0]);
        return apply_function(call.function, arguments);
    }

    double rounded(ArrayId target, double result) const {
        return scope_[target].rounds ? round_to(scope_[target].type, result) : result;
    }
    void store(ArrayId target, const Index& index, double result) {
        std::vector<std::int64_t> position;
        for (const AxisId axis : scope_[target].axes) position.push_back(index.at(axis));
        Tensor& tensor = values_.at(target);
        tensor.values.at(static_cast<std::size_t>(tensor.offset(position))) =
            rounded(target, result);
    }

    void run_map(const Statement& statement, const Map& map) {
        Index index;
        loop(scope_[statement.targets[0]].axes, index,
             [&] { store(statement.targets[0], index, value(map.value, index)); });
    }

    void run_fold(const Statement& statement, const Fold& fold) {
        const Monoid& monoid = scope_[fold.monoid];
        Index index;
        std::vector<AxisId> outer;
        for (const AxisId axis : scope_[statement.targets[0]].axes)
            if (!fold.every_prefix || axis != fold.over[0]) outer.push_back(axis);
        loop(outer, index, [&] {
            std::vector<double> total;
            const auto& start = fold.seed.empty() ? monoid.identity : fold.seed;
            for (const Expression& seed : start) total.push_back(value(seed, index));
            loop(fold.over, index, [&] {
                std::vector<double> operands = total;
                for (const Expression& each : fold.values) operands.push_back(value(each, index));
                for (std::size_t i = 0; i < total.size(); ++i)
                    total[i] = value(monoid.combine[i], index, operands);
                if (!fold.every_prefix) return;
                for (std::size_t i = 0; i < total.size(); ++i)
                    store(statement.targets[i], index, total[i]);
            });
            if (fold.every_prefix) return;
            for (std::size_t i = 0; i < total.size(); ++i)
                store(statement.targets[i], index, total[i]);
        });
    }

    void run_select(const Statement& statement, const Select& select) {
        Index index;
        std::vector<AxisId> outer;
        for (const AxisId axis : scope_[statement.targets[0]].axes)
            if (!select.rank || axis != *select.rank) outer.push_back(axis);
        loop(outer, index, [&] {
            std::vector<std::pair<double, std::int64_t>> elements;
            loop({select.over}, index,
                 [&] { elements.emplace_back(value(select.value, index), index.at(select.over)); });
            std::stable_sort(elements.begin(), elements.end(),
                             [](const auto& a, const auto& b) { return a.first > b.first; });
            const std::int64_t count = select.rank ? scope_[*select.rank].extent : 1;
            for (std::int64_t i = 0; i < count; ++i) {
                if (select.rank) index[*select.rank] = i;
                const bool there = i < static_cast<std::int64_t>(elements.size());
                const auto best = there ? elements[static_cast<std::size_t>(i)]
                                        : std::pair<double, std::int64_t>(
                                              -std::numeric_limits<double>::infinity(), kNoIndex);
                store(statement.targets[0], index, best.first);
                if (statement.targets.size() > 1)
                    store(statement.targets[1], index, static_cast<double>(best.second));
            }
        });
    }
};

bool carries(const Array& array, AxisId axis) {
    return std::find(array.axes.begin(), array.axes.end(), axis) != array.axes.end();
}

/// Statements that the accumulator leaves to the caller: not touched by the axis in any way.
std::vector<Statement> before(const Diagram& diagram, const Region& region, AxisId axis) {
    std::set<ArrayId> touched;
    std::vector<Statement> result;
    for (const StatementId id : region.statements) {
        const Statement& statement = diagram[id];
        bool touches = false;
        for (const AxisId each : axes_of(diagram, statement)) touches |= each == axis;
        for (const Expression* each : expressions_of(statement))
            touches |= axes_used(*each).contains(axis);
        for (const ArrayId input : inputs_of(statement)) touches |= touched.contains(input);
        if (!touches) result.push_back(statement);
        if (touches) touched.insert(statement.targets.begin(), statement.targets.end());
    }
    return result;
}

}  // namespace

Executed execute(const Diagram& diagram, const Region& region, const Accumulator& accumulator,
                 const Tensors& inputs, const Chunks& chunks) {
    Machine machine(diagram, accumulator, inputs);
    for (const Statement& statement : before(diagram, region, accumulator.axes.front()))
        machine.run(statement);
    for (const Statement& statement : accumulator.initial) machine.run(statement);
    const std::vector<ArrayId> saves = saves_of(diagram, region);
    Executed result;
    std::int64_t begin = 0;
    for (const std::int64_t length : chunks) {
        machine.restrict_to(begin, begin + length);
        for (const Statement& statement : accumulator.body)
            for (const ArrayId target : statement.targets)
                if (target.index() < diagram.arrays.size()) machine.poison(target);
        for (const Statement& statement : accumulator.body) machine.run(statement);
        for (const ArrayId save : saves) {
            if (!carries(diagram[save], accumulator.axes.front())) continue;
            Tensor& whole =
                result.saved.try_emplace(save, make_tensor(diagram, save)).first->second;
            const Tensor& part = machine.tensor(save);
            for (std::size_t i = 0; i < whole.values.size(); ++i)
                if (!std::isnan(part.values[i])) whole.values[i] = part.values[i];
        }
        begin += length;
    }
    machine.restrict_to(0, diagram[accumulator.axes.front()].extent);
    for (const Statement& statement : accumulator.body)  // nothing of a chunk is left in the tail
        for (const ArrayId target : statement.targets) {
            const std::size_t own = diagram.arrays.size();
            const Array& array =
                target.index() < own ? diagram[target] : accumulator.arrays[target.index() - own];
            if (carries(array, accumulator.axes.front())) machine.poison(target);
        }
    for (const Statement& statement : accumulator.tail) machine.run(statement);
    for (const ArrayId save : saves)
        if (!carries(diagram[save], accumulator.axes.front()))
            result.saved[save] = machine.tensor(save);
    result.largest_exponent = machine.largest_exponent();
    return result;
}

}  // namespace napkin::test
