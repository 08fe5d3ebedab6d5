// The plain diagram over a domain: statement by statement, whole arrays, nothing of regions, tiles
// or accumulators. It shares the domain's arithmetic with the interpreter of tile programs and
// nothing else. The checker of certificates uses it too, with axes restricted.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "derive/interpret/device.h"
#include "derive/interpret/domain.h"
#include "diagrams/index/interval.h"
#include "diagrams/overloaded.h"

namespace napkin::proof {

template <class Domain>
class PlainEvaluator {
public:
    using Value = typename Domain::Value;
    /// `inputs` holds every input and parameter.
    PlainEvaluator(Domain& domain, const Diagram& diagram, Grids<Value> inputs)
        : domain_(domain),
          diagram_(diagram),
          grids_(std::move(inputs)),
          position_(diagram.axes.size(), 0) {
        for (const Axis& axis : diagram.axes) ranges_.push_back({0, axis.extent - 1});
    }

    /// Every array.
    [[nodiscard]] Grids<Value> run() {
        for (const Statement& statement : diagram_.statements) {
            for (const ArrayId target : statement.targets) clear(target);
            run(statement);
        }
        return std::move(grids_);
    }

    /// Computes one statement for the indices in the axes' ranges; its targets exist.
    void run(const Statement& statement) {
        std::visit(overloaded{
                       [&](const Map& map) {
                           over(diagram_[statement.targets[0]].axes, 0,
                                [&] { store(statement.targets[0], value(map.value)); });
                       },
                       [&](const Fold& fold) { run_fold(statement, fold); },
                       [&](const Select& select) { run_select(statement, select); },
                       [](const Opaque&) {
                           throw InternalError("an opaque box has no meaning to execute");
                       },
                   },
                   statement.body);
    }
    /// Gives an array elements that were never written.
    void clear(ArrayId target) {
        Grid<Value> grid{extents_of(diagram_, target), {}};
        std::size_t size = 1;
        for (const std::int64_t extent : grid.extents) size *= static_cast<std::size_t>(extent);
        grid.values.assign(size, domain_.poison());
        grids_[target] = std::move(grid);
    }
    [[nodiscard]] Grid<Value>& grid(ArrayId array) { return grids_.at(array); }
    /// The range of an axis, whole at first.
    [[nodiscard]] Interval& range(AxisId axis) { return ranges_[axis.index()]; }
    /// Calls `visit` for every index of the axes, from the `at`-th on, in their ranges.
    template <class Visit>
    void over(const std::vector<AxisId>& axes, std::size_t at, const Visit& visit) {
        if (at == axes.size()) return visit();
        std::int64_t& index = position_[axes[at].index()];
        const Interval range = ranges_[axes[at].index()];
        for (index = range.low; index <= range.high; ++index) over(axes, at + 1, visit);
    }

    /// An expression at the current position; `operands` are those of a monoid's combine.
    [[nodiscard]] Value value(const Expression& expression, std::span<const Value> operands = {}) {
        return std::visit(
            overloaded{
                [&](const Number& literal) { return domain_.number(literal.value); },
                [&](const AxisIndex& index) {
                    return index_value(domain_, position_[index.axis.index()]);
                },
                [&](const SizeOf& size) {
                    return domain_.number(static_cast<double>(diagram_[size.axis].extent));
                },
                [&](const Read& element) { return read(element, operands); },
                [&](const Apply& call) { return apply(call, operands); },
                [&](const Convert& convert) {
                    return domain_.round(convert.type, value(convert.argument[0], operands));
                },
                [&](const Operand& operand) { return operands[operand.slot]; },
            },
            expression.node);
    }

private:
    using Values = std::vector<Value>;

    /// The axes of a statement's targets without one.
    [[nodiscard]] std::vector<AxisId> axes_but(const Statement& statement, AxisId but) const {
        std::vector<AxisId> axes = diagram_[statement.targets[0]].axes;
        std::erase(axes, but);
        return axes;
    }

    void run_fold(const Statement& statement, const Fold& fold) {
        const Monoid& monoid = diagram_[fold.monoid];
        const Values identity = values(monoid.identity);
        const std::vector<AxisId> axes = fold.every_prefix ? axes_but(statement, fold.over[0])
                                                           : diagram_[statement.targets[0]].axes;
        const auto store_all = [&](Values state) {
            domain_.finish(fold.monoid, state);
            for (std::size_t i = 0; i < state.size(); ++i) store(statement.targets[i], state[i]);
        };
        Values element;
        Values operands;
        over(axes, 0, [&] {
            Values state = fold.seed.empty() ? identity : values(fold.seed);
            over(fold.over, 0, [&] {
                element.clear();
                append_values(fold.values, element);
                operands = state;
                operands.insert(operands.end(), element.begin(), element.end());
                domain_.absorb(fold.monoid, identity, state, element,
                               [&](std::size_t i) { return value(monoid.combine[i], operands); });
                if (fold.every_prefix) store_all(state);
            });
            if (!fold.every_prefix) store_all(state);
        });
    }

    void run_select(const Statement& statement, const Select& select) {
        const std::vector<AxisId> axes =
            select.rank ? axes_but(statement, *select.rank) : diagram_[statement.targets[0]].axes;
        const std::int64_t ranks = select.rank ? diagram_[*select.rank].extent : 1;
        over(axes, 0, [&] {
            Candidates<Value> elements;
            over({select.over}, 0, [&] {
                elements.emplace_back(value(select.value), position_[select.over.index()]);
            });
            const auto best = domain_.select(std::move(elements), ranks);
            for (std::int64_t rank = 0; rank < ranks; ++rank) {
                if (select.rank) position_[select.rank->index()] = rank;
                store(statement.targets[0], best[static_cast<std::size_t>(rank)].first);
                store(statement.targets[1], best[static_cast<std::size_t>(rank)].second);
            }
        });
    }

    void store(ArrayId target, const Value& value) {
        const Array& array = diagram_[target];
        Grid<Value>& grid = grids_.at(target);
        std::size_t offset = 0;
        for (std::size_t axis = 0; axis < array.axes.size(); ++axis)
            offset = grid.offset(offset, axis, position_[array.axes[axis].index()]);
        grid.values[offset] = domain_.written(array, array.type, value);
    }

    [[nodiscard]] Values values(const std::vector<Expression>& list) {
        Values result;
        append_values(list, result);
        return result;
    }
    void append_values(const std::vector<Expression>& list, Values& to) {
        for (const Expression& expression : list) to.push_back(value(expression));
    }
    [[nodiscard]] Value read(const Read& element, std::span<const Value> operands) {
        const Grid<Value>& grid = grids_.at(element.array);
        std::size_t offset = 0;
        Values indices;
        for (std::size_t axis = 0; axis < element.index.size(); ++axis) {
            const AxisIndex* plain = std::get_if<AxisIndex>(&element.index[axis].node);
            if (plain != nullptr && !Domain::kTracksIndices) {
                offset = grid.offset(offset, axis, position_[plain->axis.index()]);
                continue;
            }
            const Value index = value(element.index[axis], operands);
            offset = grid.offset(offset, axis, domain_.index(index));
            if constexpr (Domain::kTracksIndices) indices.push_back(index);
        }
        const Value& found = grid.values[offset];
        if constexpr (Domain::kTracksIndices) return domain_.read(found, indices);
        return found;
    }
    [[nodiscard]] Value apply(const Apply& call, std::span<const Value> operands) {
        const auto argument = [&](std::size_t i) { return value(call.arguments[i], operands); };
        switch (call.function) {
        case Function::Select:
            return domain_.choose(argument(0), [&](bool taken) { return argument(taken ? 1 : 2); });
        case Function::And:
            return domain_.choose(
                argument(0), [&](bool taken) { return taken ? argument(1) : domain_.number(0); });
        case Function::Or:
            return domain_.choose(
                argument(0), [&](bool taken) { return taken ? domain_.number(1) : argument(1); });
        default: break;
        }
        std::array<Value, 3> arguments{};
        for (std::size_t i = 0; i < call.arguments.size(); ++i) arguments[i] = argument(i);
        return domain_.apply(call.function,
                             std::span<const Value>(arguments.data(), call.arguments.size()));
    }

    Domain& domain_;
    const Diagram& diagram_;
    Grids<Value> grids_;
    std::vector<std::int64_t> position_;
    std::vector<Interval> ranges_;
};

}  // namespace napkin::proof
