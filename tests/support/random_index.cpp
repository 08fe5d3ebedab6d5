#include "tests/support/random_index.h"

#include <array>

#include "diagrams/evaluate.h"

namespace napkin::test {

Expression RandomIndex::condition(int depth) {
    const int kind = pick(depth > 0 ? 9 : 6);
    if (kind == 6) return apply(Function::And, {condition(depth - 1), condition(depth - 1)});
    if (kind == 7) return apply(Function::Or, {condition(depth - 1), condition(depth - 1)});
    if (kind == 8) return apply(Function::Not, {condition(depth - 1)});
    constexpr std::array kComparisons = {Function::Less,    Function::LessEqual,
                                         Function::Greater, Function::GreaterEqual,
                                         Function::Equal,   Function::NotEqual};
    return apply(kComparisons[static_cast<std::size_t>(kind)], {index(2), index(2)});
}

Expression RandomIndex::index(int depth) {
    const auto inner = [&] { return index(depth - 1); };
    switch (pick(depth > 0 ? 13 : 3)) {
    case 0:
    case 1: return leaves_[static_cast<std::size_t>(pick(static_cast<int>(leaves_.size())))];
    case 2: return integer(pick(9) - 2);
    case 3: return apply(Function::Add, {inner(), inner()});
    case 4: return apply(Function::Subtract, {inner(), inner()});
    case 5: return apply(Function::FloorDivide, {inner(), integer(1 + pick(4))});
    case 6: return apply(Function::Modulo, {inner(), integer(1 + pick(4))});
    case 7: return apply(Function::Min, {inner(), inner()});
    case 8: return apply(Function::Max, {inner(), inner()});
    case 9: return apply(Function::Abs, {inner()});
    case 10: return apply(Function::Negate, {inner()});
    case 11: return apply(Function::Multiply, {inner(), integer(pick(5) - 1)});
    default:
        return apply(Function::Select,
                     {apply(Function::Less, {inner(), inner()}), inner(), inner()});
    }
}

double value_at(const IndexPoint& point, const Expression& expression) {
    if (const Number* number = std::get_if<Number>(&expression.node)) return number->value;
    if (const AxisIndex* index = std::get_if<AxisIndex>(&expression.node))
        return static_cast<double>(point.at.at(index->axis));
    if (const SizeOf* size = std::get_if<SizeOf>(&expression.node))
        return static_cast<double>(point.axes[size->axis.index()].extent);
    if (const Read* read = std::get_if<Read>(&expression.node)) {
        const auto index = static_cast<std::size_t>(value_at(point, read->index.at(0)));
        return static_cast<double>(point.elements.at(read->array).at(index));
    }
    const Apply& call = std::get<Apply>(expression.node);
    std::vector<double> arguments;
    for (const Expression& argument : call.arguments)
        arguments.push_back(value_at(point, argument));
    return apply_function(call.function, arguments);
}

}  // namespace napkin::test
