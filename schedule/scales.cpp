#include "schedule/scales.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "diagrams/evaluate.h"

namespace napkin::schedule {
namespace {

bool absorbs_factors(double value) {
    return value == 0 || std::isinf(value);
}

/// Whether an expression runs along no axis that another does not.
bool within(const Expression& inner, const Expression& outer) {
    const std::set<AxisId> axes = axes_used(outer);
    const std::set<AxisId> own = axes_used(inner);
    return std::includes(axes.begin(), axes.end(), own.begin(), own.end());
}

}  // namespace

std::optional<double> constant_value(const RegionProgram& region, const Expression& expression) {
    if (const double* value = literal(expression)) return *value;
    if (const SizeOf* size = std::get_if<SizeOf>(&expression.node)) {
        const Axis& axis = region.axes[size->axis.index()];
        if (axis.dynamic) return std::nullopt;
        return static_cast<double>(axis.extent);
    }
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return std::nullopt;
    std::vector<double> values;
    for (const Expression& argument : call->arguments) {
        const std::optional<double> value = constant_value(region, argument);
        if (!value) return std::nullopt;
        values.push_back(*value);
    }
    return apply_function(call->function, values);
}

/// With the factors of arrays written out.
Expression Scaler::written(const Expression& expression) const {
    return rewrite(expression, [&](const Expression& node) -> Expression {
        const Read* read = std::get_if<Read>(&node.node);
        const auto known = read == nullptr ? scales_.end() : scales_.find(read->array);
        if (known == scales_.end()) return node;
        return apply(Function::Multiply, {node, number(known->second)});
    });
}

Scaled Scaler::split(const Expression& expression) const {
    const auto positive = [](double value) { return value > 0 && std::isfinite(value); };
    if (const Read* read = std::get_if<Read>(&expression.node)) {
        const auto known = scales_.find(read->array);
        if (known != scales_.end()) return {known->second, expression};
    }
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return {1, expression};
    if (call->function == Function::Multiply) {
        for (const std::size_t side : {0U, 1U}) {
            const std::optional<double> value = constant_value(region_, call->arguments[side]);
            if (!value || !positive(*value)) continue;
            Scaled inner = split(call->arguments[1 - side]);
            return {inner.factor * *value, inner.rest};
        }
    }
    if (call->function == Function::Divide)
        if (const std::optional<double> value = constant_value(region_, call->arguments[1]);
            value && positive(*value)) {
            Scaled inner = split(call->arguments[0]);
            return {inner.factor / *value, inner.rest};
        }
    if (call->function == Function::Select)
        for (const std::size_t side : {1U, 2U}) {
            const double* other = literal(call->arguments[3 - side]);
            if (!other || !absorbs_factors(*other)) continue;
            const Scaled inner = split(call->arguments[side]);
            if (inner.factor == 1) break;
            std::vector<Expression> arguments = call->arguments;
            arguments[side] = inner.rest;
            arguments[0] = written(arguments[0]);
            return {inner.factor, apply(Function::Select, std::move(arguments))};
        }
    return {1, written(expression)};
}

/// What is multiplied or divided by a number, and as a factor.
std::optional<Scaled> Scaler::multiplied(const Expression& expression) const {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return std::nullopt;
    const bool divides = call->function == Function::Divide;
    if (!divides && call->function != Function::Multiply) return std::nullopt;
    for (const std::size_t side : {1U, 0U}) {
        const Expression& rest = call->arguments[1 - side];
        const std::optional<double> value = constant_value(region_, call->arguments[side]);
        if (!value || arrays_read(rest).empty() || (divides && side == 0)) continue;
        return Scaled{divides ? 1 / *value : *value, rest};
    }
    return std::nullopt;
}

/// Numbers that multiply one after another, or divide, as one factor: a rounding less each, and
/// nothing between them that a type rounds.
Expression Scaler::joined(const Expression& expression) const {
    const auto is_normal = [](double value) { return std::isnormal(static_cast<float>(value)); };
    const std::optional<Scaled> outer = multiplied(expression);
    if (!outer || !is_normal(outer->factor)) return expression;
    const std::optional<Scaled> inner = multiplied(outer->rest);
    if (inner && is_normal(inner->factor) && is_normal(outer->factor * inner->factor))
        return apply(Function::Multiply, {inner->rest, number(outer->factor * inner->factor)});
    if (std::get<Apply>(expression.node).function == Function::Multiply) return expression;
    return apply(Function::Multiply, {outer->rest, number(outer->factor)});
}

Expression Scaler::times(const Expression& expression, double factor) const {
    if (const std::optional<double> value = constant_value(region_, expression))
        return number(absorbs_factors(*value) ? *value : *value * factor);
    if (const Apply* call = std::get_if<Apply>(&expression.node)) {
        const auto all = [&](std::size_t first) {
            std::vector<Expression> arguments = call->arguments;
            for (std::size_t i = first; i < arguments.size(); ++i)
                arguments[i] = times(arguments[i], factor);
            return apply(call->function, std::move(arguments));
        };
        switch (call->function) {
        case Function::Negate:
        case Function::Add:
        case Function::Subtract:
        case Function::Guard: return all(0);
        case Function::Select: return all(1);
        case Function::Multiply:
            for (const std::size_t side : {0U, 1U})
                if (const std::optional<double> value =
                        constant_value(region_, call->arguments[side]))
                    return times(call->arguments[1 - side], *value * factor);
            break;
        default: break;
        }
    }
    if (factor == 1) return expression;
    return apply(Function::Multiply, {expression, number(factor)});
}

/// An argument of exp as one of base 2. Of value - guard(gauge), both scaled, the assembler fuses
/// the value's product with the subtraction, and leaves by how much the gauge's was rounded: the
/// more the larger it is, and an infinity where scores that are hidden have a large finite number
/// (-1e30). So what is computed once a row, such as repairs, is subtracted first; and elements are
/// scaled by a power of two, exactly, where that rounding could be seen, as then all that is below
/// the gauge is so far below that it counts for nothing. Arrays that are kept without a factor have
/// no such numbers.
Expression Scaler::exponent(const Expression& argument) const {
    constexpr double kLarge = 0x1p26;  // next to it are no numbers nearer than 8
    const auto scaled = [](Expression value, Expression factor) {
        return apply(Function::Multiply, {std::move(value), std::move(factor)});
    };
    const Apply* difference = std::get_if<Apply>(&argument.node);
    const bool relative =
        difference != nullptr && difference->function == Function::Subtract &&
        std::holds_alternative<Apply>(difference->arguments[1].node) &&
        std::get<Apply>(difference->arguments[1].node).function == Function::Guard;
    if (!relative) return times(argument, std::numbers::log2e);
    const Expression& value = difference->arguments[0];
    const Expression& guarded = difference->arguments[1];
    const Expression& gauge = std::get<Apply>(guarded.node).arguments[0];
    if (within(value, gauge)) return scaled(argument, number(std::numbers::log2e));
    const std::set<ArrayId> arrays = arrays_read(argument);
    if (std::any_of(arrays.begin(), arrays.end(),
                    [&](ArrayId array) { return scales_.contains(array); }))
        return apply(Function::Subtract, {times(value, std::numbers::log2e),
                                          scaled(guarded, number(std::numbers::log2e))});
    const Expression is_large =
        apply(Function::GreaterEqual, {apply(Function::Abs, {gauge}), number(kLarge)});
    const auto in_base_two = [&](const Expression& whole) {
        Scaled part = split(whole);
        int exponent = 0;
        if (std::frexp(part.factor, &exponent) != 0.5) part = {1, whole};
        return scaled(part.rest,
                      apply(Function::Select, {is_large, number(part.factor),
                                               number(part.factor * std::numbers::log2e)}));
    };
    return apply(Function::Subtract, {in_base_two(value), in_base_two(guarded)});
}

Expression Scaler::expand(const Expression& expression) const {
    return rewrite(written(expression), [&](const Expression& node) -> Expression {
        if (const Apply* call = std::get_if<Apply>(&node.node))
            if (call->function == Function::Exp) {
                // A number, before its exponent is one of base 2 and it would be taken for another.
                if (const std::optional<double> value = constant_value(region_, node))
                    return number(*value);
                return apply(Function::Exp, {exponent(call->arguments[0])});
            }
        return joined(node);
    });
}

}  // namespace napkin::schedule
