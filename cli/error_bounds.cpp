#include "cli/error_bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "diagrams/overloaded.h"

namespace napkin::cli {
namespace {

/// Calls `visit` for every index of some axes, the last fastest; `at` carries the index.
template <class Visitor>
void for_each_index(const Diagram& diagram, const std::vector<AxisId>& axes,
                    std::vector<std::int64_t>& at, const Visitor& visit, std::size_t depth = 0) {
    if (depth == axes.size()) return visit();
    const AxisId axis = axes[depth];
    for (std::int64_t i = 0; i < diagram[axis].extent; ++i) {
        at[axis.index()] = i;
        for_each_index(diagram, axes, at, visit, depth + 1);
    }
}

}  // namespace

ErrorBounds::ErrorBounds(const Diagram& diagram, const Tensors& inputs, StoredTypes stored,
                         const Precision& precision)
    : diagram_(diagram),
      inputs_(inputs),
      stored_(std::move(stored)),
      precision_(precision),
      known_(diagram.arrays.size()) {}

Bounded ErrorBounds::element(ArrayId array, std::span<const std::int64_t> index) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < index.size(); ++i)
        offset = offset * diagram_[diagram_[array].axes[i]].extent + index[i];
    return element_at(array, offset);
}

std::int64_t ErrorBounds::offset_of(ArrayId array, const Environment& at) const {
    std::int64_t offset = 0;
    for (const AxisId axis : diagram_[array].axes)
        offset = offset * diagram_[axis].extent + at[axis.index()];
    return offset;
}

ErrorBounds::Environment ErrorBounds::environment(ArrayId array, std::int64_t offset) const {
    Environment at(diagram_.axes.size());
    const std::vector<AxisId>& axes = diagram_[array].axes;
    for (std::size_t i = axes.size(); i-- > 0;) {
        at[axes[i].index()] = offset % diagram_[axes[i]].extent;
        offset /= diagram_[axes[i]].extent;
    }
    return at;
}

Bounded ErrorBounds::element_at(ArrayId array, std::int64_t offset) {
    if (const auto input = inputs_.find(array); input != inputs_.end())
        return {input->second.values[static_cast<std::size_t>(offset)], 0};
    const auto& known = known_[array.index()];
    if (const auto found = known.find(offset); found != known.end()) return found->second;
    if (const std::optional<StatementId> statement = producer(diagram_, array)) {
        compute(*statement, array, offset);
        return known.at(offset);
    }
    invariant(diagram_[array].value.has_value(), "an input has no values");
    return {*diagram_[array].value, 0};
}

void ErrorBounds::keep(ArrayId array, std::int64_t offset, Bounded value) {
    if (diagram_[array].rounds) value = round_both(diagram_[array].type, value);
    if (const auto type = stored_.find(array); type != stored_.end())
        value = round_kernel(type->second, value);
    known_[array.index()][offset] = value;
}

Bounded ErrorBounds::read(const Read& read, Environment& at) {
    std::int64_t offset = 0;
    const std::vector<AxisId>& axes = diagram_[read.array].axes;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto index = static_cast<std::int64_t>(value_of(read.index[i], at).value);
        const std::int64_t extent = diagram_[axes[i]].extent;
        // Only a branch that is looked at because its condition is uncertain can be outside.
        if (index < 0 || index >= extent) return {0, std::numeric_limits<double>::infinity()};
        offset = offset * extent + index;
    }
    return element_at(read.array, offset);
}

Bounded ErrorBounds::value_of(const Expression& expression, Environment& at) {
    return std::visit(
        overloaded{
            [](const Number& number) {
                return Bounded{number.value, 0};
            },
            [&](const AxisIndex& index) {
                return Bounded{static_cast<double>(at[index.axis.index()]), 0};
            },
            [&](const SizeOf& size) {
                return Bounded{static_cast<double>(diagram_[size.axis].extent), 0};
            },
            [&](const Read& element) { return read(element, at); },
            [&](const Apply& call) {
                std::array<Bounded, 3> arguments{};
                const std::size_t count = call.arguments.size();
                arguments[0] = value_of(call.arguments[0], at);
                if (call.function == Function::Select && arguments[0].error == 0)
                    return value_of(call.arguments[arguments[0].value != 0 ? 1 : 2], at);
                for (std::size_t i = 1; i < count; ++i)
                    arguments[i] = value_of(call.arguments[i], at);
                return apply_bounded(precision_, call.function, std::span(arguments.data(), count));
            },
            [&](const Convert& convert) {
                return round_both(convert.type, value_of(convert.argument.front(), at));
            },
            [&](const Operand& operand) { return (*operands_)[operand.slot]; },
        },
        expression.node);
}

std::vector<Bounded> ErrorBounds::combine(const Monoid& monoid, const std::vector<Bounded>& left,
                                          const std::vector<Bounded>& right) {
    std::vector<Bounded> operands = left;
    operands.insert(operands.end(), right.begin(), right.end());
    operands_ = &operands;
    Environment nowhere(diagram_.axes.size());
    std::vector<Bounded> result;
    for (const Expression& component : monoid.combine)
        result.push_back(value_of(component, nowhere));
    operands_ = nullptr;
    return result;
}

std::vector<Bounded> ErrorBounds::start_of(const Fold& fold, Environment& at) {
    std::vector<Bounded> start;
    for (const Expression& component :
         fold.seed.empty() ? diagram_[fold.monoid].identity : fold.seed)
        start.push_back(value_of(component, at));
    return start;
}

std::vector<Bounded> ErrorBounds::fold_along(const Fold& fold, std::vector<Bounded> state,
                                             Environment& at) {
    const bool is_sum = fold.monoid == kSum;
    double magnitude = std::abs(state.front().value);
    std::int64_t count = 0;
    for_each_index(diagram_, fold.over, at, [&] {
        std::vector<Bounded> values;
        for (const Expression& value : fold.values) values.push_back(value_of(value, at));
        if (!is_sum) {
            state = combine(diagram_[fold.monoid], state, values);
            return;
        }
        if (values.front().value == 0 && values.front().error == 0) return;
        state.front().value += values.front().value;
        state.front().error += values.front().error;
        magnitude += std::abs(values.front().value);
        ++count;
    });
    if (is_sum && std::isfinite(magnitude))
        state.front().error += summation_error(precision_, count, magnitude);
    return state;
}

void ErrorBounds::compute_fold(const Statement& statement, const Fold& fold, std::int64_t offset,
                               Environment& at) {
    if (!fold.every_prefix) {
        const std::vector<Bounded> result = fold_along(fold, start_of(fold, at), at);
        for (std::size_t i = 0; i < result.size(); ++i)
            keep(statement.targets[i], offset, result[i]);
        return;
    }
    // A scan: all its prefixes at once, so that asking for the next one costs nothing.
    const AxisId axis = fold.over.front();
    std::vector<Bounded> state = start_of(fold, at);
    for (std::int64_t t = 0; t < diagram_[axis].extent; ++t) {
        at[axis.index()] = t;
        std::vector<Bounded> values;
        for (const Expression& value : fold.values) values.push_back(value_of(value, at));
        state = combine(diagram_[fold.monoid], state, values);
        for (std::size_t i = 0; i < state.size(); ++i)
            keep(statement.targets[i], offset_of(statement.targets[i], at), state[i]);
    }
}

void ErrorBounds::compute_select(const Statement& statement, const Select& select,
                                 Environment& at) {
    std::vector<Bounded> row;
    for (std::int64_t i = 0; i < diagram_[select.over].extent; ++i) {
        at[select.over.index()] = i;
        row.push_back(value_of(select.value, at));
    }
    std::vector<std::size_t> order(row.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return row[a].value > row[b].value; });
    double error = 0;
    for (const Bounded& value : row) error = std::max(error, value.error);
    const std::size_t count =
        select.rank ? static_cast<std::size_t>(diagram_[*select.rank].extent) : 1;
    for (std::size_t k = 0; k < count; ++k) {
        if (select.rank) at[select.rank->index()] = static_cast<std::int64_t>(k);
        const double value = row[order[k]].value;
        const auto near = [&](std::size_t other) {
            return error > 0 && other < order.size() &&
                   std::abs(row[order[other]].value - value) <= 2 * error;
        };
        const bool uncertain = (k > 0 && near(k - 1)) || near(k + 1);
        const double index_error = uncertain ? std::numeric_limits<double>::infinity() : 0;
        const Bounded index{static_cast<double>(order[k]), index_error};
        if (statement.targets.size() > 1) {
            keep(statement.targets[0], offset_of(statement.targets[0], at), {value, error});
            keep(statement.targets[1], offset_of(statement.targets[1], at), index);
        } else {
            keep(statement.targets[0], offset_of(statement.targets[0], at), index);
        }
    }
}

void ErrorBounds::compute(StatementId id, ArrayId array, std::int64_t offset) {
    const Statement& statement = diagram_[id];
    Environment at = environment(array, offset);
    std::visit(overloaded{
                   [&](const Map& map) { keep(array, offset, value_of(map.value, at)); },
                   [&](const Fold& fold) { compute_fold(statement, fold, offset, at); },
                   [&](const Select& select) { compute_select(statement, select, at); },
                   [](const Opaque&) { throw InternalError("an opaque box has no values"); },
               },
               statement.body);
}

}  // namespace napkin::cli
