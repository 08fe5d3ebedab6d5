#include "diagrams/expression.h"

#include <utility>

#include "diagrams/literal.h"

namespace napkin {

namespace {

template <class Node>
Expression wrap(Node node) {
    Expression expression;
    expression.node = std::move(node);
    return expression;
}

}  // namespace

Expression number(double value) {
    return number(value, is_whole(value));
}
Expression number(double value, bool is_integer) {
    return wrap(Number{value, is_integer});
}
Expression integer(std::int64_t value) {
    return wrap(Number{static_cast<double>(value), true});
}
Expression axis_index(AxisId axis) {
    return wrap(AxisIndex{axis});
}
Expression size_of(AxisId axis) {
    return wrap(SizeOf{axis});
}
Expression read(ArrayId array, std::vector<Expression> index) {
    return wrap(Read{array, std::move(index)});
}

Expression read_axes(ArrayId array, const std::vector<AxisId>& axes) {
    std::vector<Expression> index;
    index.reserve(axes.size());
    for (AxisId axis : axes) index.push_back(axis_index(axis));
    return read(array, std::move(index));
}

Expression apply(Function function, std::vector<Expression> arguments) {
    return wrap(Apply{function, std::move(arguments)});
}

const char* name_of(Function function) {
    switch (function) {
    case Function::Negate: return "-";
    case Function::Add: return "+";
    case Function::Subtract: return "-";
    case Function::Multiply: return "*";
    case Function::Divide: return "/";
    case Function::FloorDivide: return "//";
    case Function::Modulo: return "%";
    case Function::Power: return "^";
    case Function::Exp: return "exp";
    case Function::Log: return "log";
    case Function::Sqrt: return "sqrt";
    case Function::Rsqrt: return "rsqrt";
    case Function::Tanh: return "tanh";
    case Function::Erf: return "erf";
    case Function::Sin: return "sin";
    case Function::Cos: return "cos";
    case Function::Abs: return "abs";
    case Function::Min: return "min";
    case Function::Max: return "max";
    case Function::Floor: return "floor";
    case Function::BitAnd: return "bit_and";
    case Function::BitOr: return "bit_or";
    case Function::BitXor: return "bit_xor";
    case Function::ShiftLeft: return "shift_left";
    case Function::ShiftRight: return "shift_right";
    case Function::Less: return "<";
    case Function::LessEqual: return "<=";
    case Function::Greater: return ">";
    case Function::GreaterEqual: return ">=";
    case Function::Equal: return "==";
    case Function::NotEqual: return "!=";
    case Function::And: return "and";
    case Function::Or: return "or";
    case Function::Not: return "not";
    case Function::Select: return "if";
    case Function::Guard: return "guard";
    }
    return "?";
}

bool is_bit_operation(Function function) {
    return function >= Function::BitAnd && function <= Function::ShiftRight;
}

bool is_comparison_or_logic(Function function) {
    return function >= Function::Less && function <= Function::Not;
}

const double* literal(const Expression& expression) {
    const Number* value = std::get_if<Number>(&expression.node);
    return value != nullptr ? &value->value : nullptr;
}

bool is_literal(const Expression& expression, double value) {
    const double* found = literal(expression);
    return found != nullptr && *found == value;
}

std::set<AxisId> axes_used(const Expression& expression) {
    std::set<AxisId> axes;
    walk(expression, [&](const Expression& part) {
        if (const AxisIndex* index = std::get_if<AxisIndex>(&part.node)) axes.insert(index->axis);
    });
    return axes;
}

std::set<ArrayId> arrays_read(const Expression& expression) {
    std::set<ArrayId> arrays;
    walk(expression, [&](const Expression& part) {
        if (const Read* element = std::get_if<Read>(&part.node)) arrays.insert(element->array);
    });
    return arrays;
}

std::vector<Expression> conjuncts_of(const Expression& condition) {
    const Apply* call = std::get_if<Apply>(&condition.node);
    if (call == nullptr || call->function != Function::And) return {condition};
    std::vector<Expression> parts;
    for (const Expression& argument : call->arguments)
        for (Expression& part : conjuncts_of(argument)) parts.push_back(std::move(part));
    return parts;
}

}  // namespace napkin
