#include "codegen/fold_constants.h"

#include "codegen/kernel_walk.h"
#include "diagrams/integer_range.h"

namespace napkin::kernel {
namespace {

/// The value of an integer of 32 bits.
std::optional<std::int64_t> value_of(const Expression& expression) {
    const Integer* literal = integer_in(expression);
    if (literal == nullptr || literal->wide) return std::nullopt;
    return literal->value;
}

Expression folded_logic(Operator operation, Expression a, Expression b) {
    const bool neutral = operation == Operator::And;  // and the other one decides
    if (is(a, !neutral) || is(b, !neutral)) return !neutral;
    if (is(a, neutral) || a == b) return b;
    if (is(b, neutral)) return a;
    return binary(operation, std::move(a), std::move(b));
}

std::optional<Expression> computed(Operator operation, std::int64_t a, std::int64_t b) {
    const auto number = [](std::int64_t value) -> std::optional<Expression> {
        if (!Interval{value, value}.within(kAny32)) return std::nullopt;
        return value;
    };
    switch (operation) {
    case Operator::Add: return number(a + b);
    case Operator::Subtract: return number(a - b);
    case Operator::Multiply: return number(a * b);
    case Operator::Divide: return b == 0 || b == -1 ? std::nullopt : number(a / b);
    case Operator::Remainder: return b == 0 || b == -1 ? std::nullopt : number(a % b);
    case Operator::Equal: return a == b;
    case Operator::NotEqual: return a != b;
    case Operator::Less: return a < b;
    case Operator::LessEqual: return a <= b;
    case Operator::Greater: return a > b;
    case Operator::GreaterEqual: return a >= b;
    default: return std::nullopt;
    }
}

Expression folded_binary(Binary node) {
    Expression& a = node.sides[0];
    Expression& b = node.sides[1];
    if (node.operation == Operator::And || node.operation == Operator::Or)
        return folded_logic(node.operation, std::move(a), std::move(b));
    const std::optional<std::int64_t> left = value_of(a);
    const std::optional<std::int64_t> right = value_of(b);
    if (left && right)
        if (std::optional<Expression> known = computed(node.operation, *left, *right))
            return *known;
    const bool sum = node.operation == Operator::Add;
    const bool product = node.operation == Operator::Multiply;
    if ((sum && left == 0) || (product && left == 1)) return std::move(b);
    if ((sum || node.operation == Operator::Subtract) && right == 0) return std::move(a);
    if ((product || node.operation == Operator::Divide) && right == 1) return std::move(a);
    return Expression(std::move(node));
}

}  // namespace

Expression folded(Expression expression) {
    if (Binary* node = std::get_if<Binary>(&expression.node))
        return folded_binary(std::move(*node));
    if (const Unary* node = std::get_if<Unary>(&expression.node))
        if (const Boolean* known = std::get_if<Boolean>(&node->operand.front().node))
            return !known->value;
    if (Choice* node = std::get_if<Choice>(&expression.node))
        if (const Boolean* known = std::get_if<Boolean>(&node->parts.front().node))
            return Expression(std::move(node->parts[known->value ? 1 : 2]));
    return expression;
}

void fold_constants(Body& body) {
    rewrite(body, folded);
}

}  // namespace napkin::kernel
