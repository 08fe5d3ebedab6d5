#include "derive/rewriting/simplify.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "diagrams/evaluate.h"
#include "diagrams/infinity.h"
#include "diagrams/literal.h"
#include "diagrams/value_kind.h"

namespace napkin::rules {

namespace {

/// The literal that means what a function of literals is; nullopt where none does.
std::optional<double> value_of(Function function, std::span<const double> values) {
    const double a = values.front();
    const double b = values.back();
    if (std::any_of(values.begin(), values.end(), [](double value) { return std::isinf(value); }))
        return apply_function(function, values);
    switch (function) {
    case Function::Add: return sum_of_literals(a, b);
    case Function::Subtract: return sum_of_literals(a, -b);
    case Function::Multiply: return product_of_literals(a, b);
    case Function::Divide: {
        const std::optional<double> inverse = power_of_literal(b, -1);
        return inverse ? product_of_literals(a, *inverse) : std::nullopt;
    }
    case Function::Power: return power_of_literal(a, b);
    case Function::Sqrt: return power_of_literal(a, 0.5);
    case Function::Rsqrt: return power_of_literal(a, -0.5);
    case Function::Negate:
    case Function::Abs:
    case Function::Min:
    case Function::Max:
    case Function::Floor: return apply_function(function, values);
    case Function::FloorDivide:
    case Function::Modulo:
        if (a != std::floor(a) || b != std::floor(b)) return std::nullopt;
        return apply_function(function, values);
    case Function::Exp:
    case Function::Cos: return a == 0 ? std::optional(1.0) : std::nullopt;
    case Function::Log: return a == 1 ? std::optional(0.0) : std::nullopt;
    case Function::Tanh:
    case Function::Erf:
    case Function::Sin: return a == 0 ? std::optional(0.0) : std::nullopt;
    default: return std::nullopt;
    }
}

/// A call whose arguments are all literals; comparisons stay, for what decides on them.
Expression evaluated(const Apply& call, Expression whole) {
    std::vector<double> values;
    for (const Expression& argument : call.arguments) {
        const double* value = literal(argument);
        if (value == nullptr) return whole;
        values.push_back(*value);
    }
    if (is_comparison_or_logic(call.function)) return whole;
    const std::optional<double> value = value_of(call.function, values);
    if (!value) return whole;
    return number(*value, kind_of({}, whole) == ValueKind::Integer);
}

/// Whether a condition is decided, and how.
std::optional<bool> decided(const Expression& condition) {
    const Apply* call = std::get_if<Apply>(&condition.node);
    if (call == nullptr || call->arguments.size() != 2) return std::nullopt;
    const double* left = literal(call->arguments[0]);
    const double* right = literal(call->arguments[1]);
    if (left == nullptr || right == nullptr) return std::nullopt;
    const double values[] = {*left, *right};
    return apply_function(call->function, values) != 0;
}

Expression reduced(Expression expression) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return expression;
    const std::vector<Expression>& args = call->arguments;
    const auto is = [&](std::size_t at, double value) { return is_literal(args[at], value); };
    switch (call->function) {
    case Function::Select:
        if (const std::optional<bool> taken = decided(args[0])) return args[*taken ? 1 : 2];
        return expression;
    case Function::Add:
        if (is(0, -kInfinity) || is(1, -kInfinity)) return number(-kInfinity);
        if (is(0, 0)) return args[1];
        if (is(1, 0)) return args[0];
        break;
    case Function::Subtract:
        if (is(0, -kInfinity)) return args[0];
        if (is(1, 0)) return args[0];
        break;
    case Function::Multiply:
        if (is(0, 0) || is(1, 1)) return args[0];
        if (is(1, 0) || is(0, 1)) return args[1];
        break;
    case Function::Divide:
        if (is(1, 1)) return args[0];
        break;
    case Function::Max:
        if (is(0, -kInfinity)) return args[1];
        if (is(1, -kInfinity)) return args[0];
        break;
    case Function::Min:
        if (is(0, kInfinity)) return args[1];
        if (is(1, kInfinity)) return args[0];
        break;
    default: break;
    }
    return evaluated(*call, expression);
}

}  // namespace

void drop_guard(Expression& exponent) {
    Apply* difference = std::get_if<Apply>(&exponent.node);
    if (difference == nullptr) return;
    const bool sums =
        difference->function == Function::Add || difference->function == Function::Multiply;
    if (sums)
        for (Expression& part : difference->arguments) drop_guard(part);
    if (difference->function != Function::Subtract) return;
    const Apply* guard = std::get_if<Apply>(&difference->arguments[1].node);
    if (guard == nullptr || guard->function != Function::Guard) return;
    Expression inside = guard->arguments.front();
    difference->arguments[1] = std::move(inside);
}

Expression simplified(Expression expression) {
    return rewrite(std::move(expression), reduced);
}

}  // namespace napkin::rules
