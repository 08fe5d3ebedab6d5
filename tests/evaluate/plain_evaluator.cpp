#include "plain_evaluator.h"

#include <algorithm>

#include "diagrams/overloaded.h"
#include "diagrams/value_kind.h"

namespace napkin::test {
namespace {

/// Advances an index in row-major order; false after the last.
bool advance(std::vector<std::int64_t>& index, const std::vector<std::int64_t>& extents) {
    for (std::size_t at = index.size(); at-- > 0;) {
        if (++index[at] < extents[at]) return true;
        index[at] = 0;
    }
    return false;
}

}  // namespace

Tensor PlainEvaluator::array(ArrayId array) {
    Tensor tensor = make_tensor(diagram_, array);
    Index index(tensor.extents.size());
    for (double& each : tensor.values) {
        each = element(array, index);
        advance(index, tensor.extents);
    }
    return tensor;
}

double PlainEvaluator::element(ArrayId array, const Index& index) {
    const auto given = inputs_.find(array);
    if (given != inputs_.end())
        return given->second.values[static_cast<std::size_t>(given->second.offset(index))];
    const auto key = std::pair(array, index);
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    const Statement& statement = diagram_[producer(diagram_, array).value()];
    const auto target = std::find(statement.targets.begin(), statement.targets.end(), array);
    const auto slot = static_cast<std::size_t>(target - statement.targets.begin());
    Position at;
    for (std::size_t dimension = 0; dimension < index.size(); ++dimension)
        at[diagram_[array].axes[dimension]] = index[dimension];
    double result =
        std::visit(overloaded{
                       [&](const Map& map) { return value(map.value, at); },
                       [&](const Fold& fold) { return folded(fold, at)[slot]; },
                       [&](const Select& select) { return selected(select, at, slot == 1); },
                       [](const Opaque&) -> double { throw InternalError("an opaque box"); },
                   },
                   statement.body);
    if (diagram_[array].rounds) result = round_to(diagram_[array].type, result);
    return known_[key] = result;
}

PlainEvaluator::Row PlainEvaluator::folded(const Fold& fold, Position at) {
    const Monoid& monoid = diagram_[fold.monoid];
    Row state;
    for (const Expression& start : fold.seed.empty() ? monoid.identity : fold.seed)
        state.push_back(value(start, at));
    Index extents;
    for (const AxisId axis : fold.over)
        extents.push_back(fold.every_prefix ? at.at(axis) + 1 : diagram_[axis].extent);
    Index index(fold.over.size());
    do {
        for (std::size_t axis = 0; axis < index.size(); ++axis) at[fold.over[axis]] = index[axis];
        Row next;
        for (const Expression& each : fold.values) next.push_back(value(each, at));
        state = combined(monoid, state, next);
    } while (advance(index, extents));
    return state;
}

PlainEvaluator::Row PlainEvaluator::combined(const Monoid& monoid, const Row& left,
                                             const Row& right) {
    Row operands = left;
    operands.insert(operands.end(), right.begin(), right.end());
    Row result;
    for (const Expression& part : monoid.combine) result.push_back(value(part, {}, operands));
    return result;
}

double PlainEvaluator::selected(const Select& select, Position at, bool wants_index) {
    const std::int64_t rank = select.rank ? at.at(*select.rank) : 0;
    std::vector<std::pair<double, std::int64_t>> candidates;
    for (std::int64_t index = 0; index < diagram_[select.over].extent; ++index) {
        at[select.over] = index;
        candidates.emplace_back(-value(select.value, at), index);
    }
    std::sort(candidates.begin(), candidates.end());
    const auto& winner = candidates.at(static_cast<std::size_t>(rank));
    return wants_index ? static_cast<double>(winner.second) : -winner.first;
}

double PlainEvaluator::applied(const Apply& call, const Position& at, const Row& operands) {
    const double first = value(call.arguments[0], at, operands);
    if (call.function == Function::Select)
        return value(call.arguments[first != 0 ? 1 : 2], at, operands);
    if (call.function == Function::And && first == 0) return 0;
    if (call.function == Function::Or && first != 0) return 1;
    Row arguments = {first};
    for (std::size_t next = 1; next < call.arguments.size(); ++next)
        arguments.push_back(value(call.arguments[next], at, operands));
    const double result = apply_function(call.function, arguments);
    const bool whole = kind_of(diagram_, Expression{call, {}}) == ValueKind::Integer;
    return whole ? result : rounded(result);
}

double PlainEvaluator::value(const Expression& expression, const Position& at,
                             const Row& operands) {
    return std::visit(
        overloaded{
            [&](const Number& literal) {
                return literal.is_integer ? literal.value : rounded(literal.value);
            },
            [&](const AxisIndex& index) { return static_cast<double>(at.at(index.axis)); },
            [&](const SizeOf& size) { return static_cast<double>(diagram_[size.axis].extent); },
            [&](const Read& read) {
                Index index;
                for (const Expression& each : read.index)
                    index.push_back(static_cast<std::int64_t>(value(each, at, operands)));
                return element(read.array, index);
            },
            [&](const Apply& call) { return applied(call, at, operands); },
            [&](const Convert& convert) {
                return round_to(convert.type, value(convert.argument[0], at, operands));
            },
            [&](const Operand& operand) { return operands.at(operand.slot); },
        },
        expression.node);
}

}  // namespace napkin::test
