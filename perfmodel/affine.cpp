#include "perfmodel/affine.h"

#include <algorithm>
#include <cmath>

#include "diagrams/checked.h"
#include "diagrams/overloaded.h"

namespace napkin {

namespace {

Coefficient operator+(const Coefficient& a, const Coefficient& b) {
    return {a.formula + b.formula, saturating_add(a.value, b.value)};
}
Coefficient operator*(const Coefficient& a, const Coefficient& b) {
    return {a.formula * b.formula, saturating_multiply(a.value, b.value)};
}

std::optional<Affine> constant(Coefficient value) {
    return Affine{{}, std::move(value)};
}

Affine scaled(const Affine& form, const Coefficient& factor) {
    Affine result;
    result.constant = form.constant * factor;
    if (factor.value == 0) return result;
    for (const auto& [axis, present] : form.factors) result.factors[axis] = present * factor;
    return result;
}

Affine sum(Affine a, const Affine& b) {
    a.constant = a.constant + b.constant;
    for (const auto& [axis, factor] : b.factors) {
        Coefficient& present = a.factors[axis];
        present = present + factor;
        if (present.value == 0) a.factors.erase(axis);
    }
    return a;
}

Coefficient minus_one() {
    return {Formula(-1), -1};
}

/// Functions of sizes alone.
std::optional<Affine> of_constants(Function function, const Coefficient& a, const Coefficient& b) {
    switch (function) {
    case Function::FloorDivide:
        if (b.value <= 0) return std::nullopt;
        return constant({floor_divide(a.formula, b.formula), floor_quotient(a.value, b.value)});
    case Function::Modulo:
        if (b.value <= 0) return std::nullopt;
        return constant(
            {modulo(a.formula, b.formula), a.value - b.value * floor_quotient(a.value, b.value)});
    case Function::Min: return constant({min_of(a.formula, b.formula), std::min(a.value, b.value)});
    case Function::Max: return constant({max_of(a.formula, b.formula), std::max(a.value, b.value)});
    default: return std::nullopt;
    }
}

std::optional<Affine> of_call(const std::vector<Axis>& axes, const Apply& call) {
    std::vector<Affine> parts;
    for (const Expression& argument : call.arguments) {
        const std::optional<Affine> part = affine_form(axes, argument);
        if (!part) return std::nullopt;
        parts.push_back(*part);
    }
    switch (call.function) {
    case Function::Negate: return scaled(parts[0], minus_one());
    case Function::Add: return sum(parts[0], parts[1]);
    case Function::Subtract: return difference(parts[0], parts[1]);
    case Function::Multiply:
        if (parts[0].factors.empty()) return scaled(parts[1], parts[0].constant);
        if (parts[1].factors.empty()) return scaled(parts[0], parts[1].constant);
        return std::nullopt;
    default: break;
    }
    if (parts.size() != 2 || !parts[0].factors.empty() || !parts[1].factors.empty())
        return std::nullopt;
    return of_constants(call.function, parts[0].constant, parts[1].constant);
}

Formula extreme(const std::vector<Axis>& axes, const Affine& form, const SymbolicRanges& ranges,
                bool low) {
    Formula result = form.constant.formula;
    for (const auto& [axis, factor] : form.factors) {
        const auto found = ranges.find(axis);
        const Formula first = found != ranges.end() ? found->second.low : Formula(0);
        const Formula width =
            found != ranges.end() ? found->second.width : size_formula(axes, axis);
        const bool at_first = (factor.value > 0) == low;
        result = result + factor.formula * (at_first ? first : first + width - Formula(1));
    }
    return result;
}

}  // namespace

Formula size_formula(const std::vector<Axis>& axes, AxisId axis) {
    const Axis& named = axes[axis.index()];
    SymbolValues values;
    for (const Symbol base : symbols_of(named.size)) values[base] = axes[base.axis.index()].extent;
    if (values.empty()) return axis_size(axis);
    const std::optional<Rational> value = evaluate(named.size, values);
    return value && *value == Rational{named.extent, 1} ? named.size : Formula(axis_size(axis));
}

Affine difference(const Affine& a, const Affine& b) {
    return sum(a, scaled(b, minus_one()));
}

std::optional<Affine> affine_form(const std::vector<Axis>& axes, const Expression& expression) {
    using Form = std::optional<Affine>;
    return std::visit(
        overloaded{
            [](const Number& number) -> Form {
                if (std::floor(number.value) != number.value || std::abs(number.value) > 1e15)
                    return std::nullopt;
                const auto value = static_cast<std::int64_t>(number.value);
                return constant({Formula(value), value});
            },
            [](const AxisIndex& index) -> Form {
                return Affine{{{index.axis, {Formula(1), 1}}}, {}};
            },
            [&](const SizeOf& size) -> Form {
                return constant({size_formula(axes, size.axis), axes[size.axis.index()].extent});
            },
            [](const Read&) -> Form { return std::nullopt; },
            [&](const Apply& call) { return of_call(axes, call); },
            [&](const Convert& convert) -> Form {
                if (is_floating(convert.type)) return std::nullopt;
                return affine_form(axes, convert.argument.front());
            },
            [](const Operand&) -> Form { return std::nullopt; },
        },
        expression.node);
}

Formula lowest(const std::vector<Axis>& axes, const Affine& form, const SymbolicRanges& ranges) {
    return extreme(axes, form, ranges, true);
}
Formula highest(const std::vector<Axis>& axes, const Affine& form, const SymbolicRanges& ranges) {
    return extreme(axes, form, ranges, false);
}

}  // namespace napkin
