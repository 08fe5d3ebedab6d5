#include "diagrams/check/constants.h"

#include <cmath>
#include <limits>

#include "diagrams/check/functions.h"

namespace napkin::checking {

namespace {

std::optional<Number> combine(Function function, const Number& a, const Number& b) {
    const bool whole = a.is_integer && b.is_integer;
    switch (function) {
    case Function::Add: return Number{a.value + b.value, whole};
    case Function::Subtract: return Number{a.value - b.value, whole};
    case Function::Multiply: return Number{a.value * b.value, whole};
    case Function::Divide: return Number{a.value / b.value, false};
    case Function::Power: return Number{std::pow(a.value, b.value), whole && b.value >= 0};
    default: return std::nullopt;
    }
}

std::optional<Number> evaluate_function(Function function, const Number& a) {
    switch (function) {
    case Function::Negate: return Number{-a.value, a.is_integer};
    case Function::Exp: return Number{std::exp(a.value), false};
    case Function::Log: return Number{std::log(a.value), false};
    case Function::Sqrt: return Number{std::sqrt(a.value), false};
    case Function::Rsqrt: return Number{1 / std::sqrt(a.value), false};
    default: return std::nullopt;
    }
}

}  // namespace

std::optional<Number> constant_value(const syntax::Expression& expression) {
    if (const auto* literal = std::get_if<syntax::Literal>(&expression.node))
        return Number{literal->value, literal->is_integer};
    if (const auto* name = std::get_if<syntax::Reference>(&expression.node)) {
        if (name->name.text != "inf") return std::nullopt;
        return Number{std::numeric_limits<double>::infinity(), false};
    }
    if (const auto* unary = std::get_if<syntax::Unary>(&expression.node)) {
        const std::optional<Number> inner = constant_value(unary->operand.front());
        if (!inner || unary->op != "-") return std::nullopt;
        return Number{-inner->value, inner->is_integer};
    }
    if (const auto* binary = std::get_if<syntax::Binary>(&expression.node)) {
        const std::optional<Number> left = constant_value(binary->operands[0]);
        const std::optional<Number> right = constant_value(binary->operands[1]);
        const std::optional<Function> function = binary_function(binary->op);
        if (!left || !right || !function) return std::nullopt;
        return combine(*function, *left, *right);
    }
    if (const auto* call = std::get_if<syntax::Call>(&expression.node)) {
        const std::optional<KnownFunction> known = known_function(call->function.text);
        if (!known || call->arguments.size() != 1) return std::nullopt;
        const std::optional<Number> argument = constant_value(call->arguments.front());
        return argument ? evaluate_function(known->function, *argument) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<Number> constant_value(const Expression& expression) {
    if (const Number* value = std::get_if<Number>(&expression.node)) return *value;
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return std::nullopt;
    std::vector<Number> arguments;
    for (const Expression& argument : call->arguments) {
        const std::optional<Number> value = constant_value(argument);
        if (!value) return std::nullopt;
        arguments.push_back(*value);
    }
    if (arguments.size() == 1) return evaluate_function(call->function, arguments[0]);
    if (arguments.size() == 2) return combine(call->function, arguments[0], arguments[1]);
    return std::nullopt;
}

}  // namespace napkin::checking
