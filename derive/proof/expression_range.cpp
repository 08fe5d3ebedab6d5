#include "derive/proof/expression_range.h"

#include <algorithm>
#include <array>
#include <utility>

#include "diagrams/infinity.h"
#include "diagrams/overloaded.h"

namespace napkin::proof {
bool ExpressionRanges::take_overflow() {
    return std::exchange(overflows_, false);
}

/// What float32 makes of a value in this range, an overflow noted.
ValueRange ExpressionRanges::kept(ValueRange range) {
    if (!fits_f32(range)) overflows_ = true;
    return flushed(range);
}

ValueRange ExpressionRanges::range(const Expression& expression, Operands operands) {
    const ValueRange whole = part(expression, operands);
    if (!fits(ElementType::I64, whole) && is_computed_in_integers(expression)) overflows_ = true;
    return kept(whole);
}

/// Whether kernels compute it as an integer, in 64 bits where it needs them.
bool ExpressionRanges::is_computed_in_integers(const Expression& expression) const {
    return std::visit(
        overloaded{
            [](const Number& literal) { return literal.is_integer; },
            [](const AxisIndex&) { return true; },
            [](const SizeOf&) { return true; },
            [&](const Read& element) {
                return !is_floating(region_.arrays[element.array.index()].type);
            },
            [&](const Apply& call) {
                const bool real =
                    call.function == Function::Divide ||
                    (call.function >= Function::Exp && call.function <= Function::Cos);
                const std::size_t first = call.function == Function::Select ? 1 : 0;
                return !real &&
                       std::all_of(call.arguments.begin() + static_cast<std::ptrdiff_t>(first),
                                   call.arguments.end(), [&](const Expression& each) {
                                       return is_computed_in_integers(each);
                                   });
            },
            [](const Convert& convert) { return !is_floating(convert.type); },
            [](const Operand&) { return false; },
        },
        expression.node);
}

ValueRange ExpressionRanges::part(const Expression& expression, Operands operands) {
    return std::visit(
        overloaded{
            [](const Number& literal) { return range_of(literal.value); },
            [&](const AxisIndex& index) {
                return range_of(0,
                                static_cast<double>(region_.axes[index.axis.index()].extent - 1));
            },
            [&](const SizeOf& size) {
                return range_of(static_cast<double>(region_.axes[size.axis.index()].extent));
            },
            [&](const Read& read) { return array_range(read.array); },
            [&](const Apply& call) { return call_range(call, operands); },
            [&](const Convert& convert) { return converted(convert, operands); },
            [&](const Operand& operand) { return operands[operand.slot]; },
        },
        expression.node);
}

ValueRange ExpressionRanges::array_range(ArrayId array) const {
    const auto known = arrays.find(array);
    if (known != arrays.end()) return known->second;
    const auto loaded = device_.find(array);
    return loaded != device_.end() ? loaded->second : ValueRange{};
}

ValueRange ExpressionRanges::converted(const Convert& convert, Operands operands) {
    const ValueRange argument = range(convert.argument[0], operands);
    if (!fits(convert.type, argument)) overflows_ = true;
    return rounded_range(convert.type, argument);
}

ValueRange ExpressionRanges::call_range(const Apply& call, Operands operands) {
    if (call.function == Function::Exp) return exponential(call, operands, false);
    if (call.function == Function::Divide) return quotient(call, operands);
    if (call.function == Function::Select) return selected(call, operands);
    if (call.function == Function::Multiply && call.arguments[0] == call.arguments[1]) {
        const std::array<ValueRange, 2> square{range(call.arguments[0], operands), range_of(2)};
        return range_of_call(Function::Power, square);
    }
    std::vector<ValueRange> arguments;
    for (const Expression& argument : call.arguments)
        arguments.push_back(range(argument, operands));
    ValueRange result = range_of_call(call.function, arguments);
    if (call.function == Function::Subtract && !result.empty() &&
        facts.at_most(call.arguments[0], unguarded(call.arguments[1]))) {
        result.high = std::min(result.high, 0.0);
        result.low = std::min(result.low, result.high);
    }
    return result;
}

ValueRange ExpressionRanges::selected(const Apply& call, Operands operands) {
    ValueRange then = range(call.arguments[1], operands);
    // `if a < inf then a`: the branch is not taken by infinities.
    const Apply* less = call_of(call.arguments[0], Function::Less);
    if (less != nullptr && less->arguments[0] == call.arguments[1]) then.plus_infinity = false;
    (void)range(call.arguments[0], operands);
    ValueRange result = hull(then, range(call.arguments[2], operands));
    // `if l != 0 then a else 0` is 0 where l vanishes.
    const Apply* visible = call_of(call.arguments[0], Function::NotEqual);
    if (visible != nullptr && is_literal(visible->arguments[1], 0) &&
        is_literal(call.arguments[2], 0))
        result.fades |= range(visible->arguments[0], operands).vanishes;
    return result;
}

ValueRange ExpressionRanges::exponential(const Apply& call, Operands operands, bool saturates) {
    const ValueRange argument = range(call.arguments[0], operands);
    const std::string text = print(scope_, call.arguments[0]);
    const double most = argument.empty() ? -kInfinity : argument.high;
    const auto [known, fresh] =
        exponents_.try_emplace(text, ExponentBound{region_.name, text, most, saturates});
    if (!fresh) {
        // Elsewhere the same exponent may not overflow.
        known->second.most = std::max(known->second.most, most);
        known->second.saturates = known->second.saturates && saturates;
    }
    const std::array<ValueRange, 1> one{argument};
    return range_of_call(Function::Exp, one);
}

/// `a / (1 + exp(u))`: where the exponential overflows, the quotient is 0, if `a` is finite.
ValueRange ExpressionRanges::quotient(const Apply& call, Operands operands) {
    const ValueRange above = range(call.arguments[0], operands);
    const bool finite = fits_f32(above) && !above.minus_infinity && !above.plus_infinity;
    std::optional<ValueRange> below = finite ? divisor(call.arguments[1], operands) : std::nullopt;
    if (!below) below = range(call.arguments[1], operands);
    const std::array<ValueRange, 2> both{above, *below};
    return range_of_call(Function::Divide, both);
}

/// The range of a sum that may be plus infinity for its exponentials, and never NaN.
std::optional<ValueRange> ExpressionRanges::divisor(const Expression& expression,
                                                    Operands operands) {
    const Apply* add = call_of(expression, Function::Add);
    if (add == nullptr) return std::nullopt;
    std::vector<ValueRange> terms;
    for (const Expression& argument : add->arguments) {
        const Apply* power = call_of(argument, Function::Exp);
        std::optional<ValueRange> term = power != nullptr
                                             ? flushed(exponential(*power, operands, true))
                                             : divisor(argument, operands);
        terms.push_back(term ? *term : range(argument, operands));
    }
    return flushed(range_of_call(Function::Add, terms));
}

}  // namespace napkin::proof
