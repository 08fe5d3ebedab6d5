#include "codegen/lowering/expression_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "codegen/expression_text.h"
#include "diagrams/evaluate.h"
#include "diagrams/overloaded.h"

namespace napkin::lowering {
namespace {

kernel::Operator operator_of(Function function) {
    switch (function) {
    case Function::And: return kernel::Operator::And;
    case Function::Or: return kernel::Operator::Or;
    case Function::Less: return kernel::Operator::Less;
    case Function::LessEqual: return kernel::Operator::LessEqual;
    case Function::Greater: return kernel::Operator::Greater;
    case Function::GreaterEqual: return kernel::Operator::GreaterEqual;
    case Function::Equal: return kernel::Operator::Equal;
    default: return kernel::Operator::NotEqual;
    }
}

/// The expression with another index of the element that it reads at `place`.
kernel::Expression moved(kernel::Expression expression, const kernel::Expression& place,
                         const kernel::Expression& index) {
    if (const auto* element = std::get_if<kernel::Element>(&expression.node))
        if (element->parts.back() == place) return subscript(element->parts.front(), index);
    if (std::vector<kernel::Expression>* parts = parts_of(expression))
        for (kernel::Expression& part : *parts) part = moved(std::move(part), place, index);
    return expression;
}

bool is_whole_power(const Apply& call) {
    if (call.function != Function::Power) return false;
    const Number* exponent = std::get_if<Number>(&call.arguments[1].node);
    return exponent != nullptr && exponent->is_integer && exponent->value >= 0;
}

}  // namespace

Code named(const Code& value, const ElementScope& element) {
    const std::string name = fmt::format("t{}", (*element.next_temporary)++);
    element.temporaries->push_back(kernel::define(type_of(value), name, value.value));
    Code code = value;
    code.value = kernel::variable(name);
    code.index.reset();
    return code;
}

IndexForm ExpressionPrinter::offset(const TileView& tile, const std::vector<IndexForm>& index) {
    IndexForm at;
    for (std::size_t d = 0; d < index.size(); ++d)
        at = at + (index[d] - tile.origin[d]) * tile.stride[d];
    return at;
}

kernel::Expression ExpressionPrinter::place(const TileView& tile,
                                            const std::vector<IndexForm>& index) {
    return subscript(kernel::variable(tile.name), expression_of(offset(tile, index)));
}

IndexForm ExpressionPrinter::index(const Expression& expression,
                                   const ElementScope& element) const {
    return form_of(as_sort(print(expression, element), Sort::Integer));
}

Code ExpressionPrinter::print(const Expression& expression, const ElementScope& element) const {
    for (const auto& [known, name] : scope_.named)
        if (known == expression) return name;
    return std::visit(
        overloaded{
            [&](const Number& number) {
                return number.is_integer ? index_code(static_cast<std::int64_t>(number.value))
                                         : real_constant(number.value);
            },
            [&](const AxisIndex& index) {
                const auto found = element.index.find(index.axis);
                invariant(found != element.index.end(),
                          "axis index outside its loop: ", std::to_string(index.axis.index()));
                return index_code(found->second);
            },
            [&](const SizeOf& size) { return index_code((*scope_.sizes)[size.axis.index()]); },
            [&](const Read& inner) { return read(inner, element); },
            [&](const Apply& inner) { return call(inner, element); },
            [&](const Convert& convert) {
                return rounded(print(convert.argument.front(), element), convert.type);
            },
            [&](const Operand& operand) { return scope_.operands.at(operand.slot); },
        },
        expression.node);
}

/// What an input's values index bounds them.
Code ExpressionPrinter::read(const Read& read, const ElementScope& element) const {
    Code code = read_element(read, element);
    const std::optional<AxisId> indexed = (*scope_.arrays)[read.array.index()].indexes;
    if (!indexed || code.sort != Sort::Integer) return code;
    const Interval size = range_of((*scope_.sizes)[indexed->index()]);
    return integer_code(code.value, {0, size.high - 1}, code.wide);
}

Code ExpressionPrinter::read_element(const Read& read, const ElementScope& element) const {
    const ElementType type = (*scope_.arrays)[read.array.index()].type;
    const auto parameter = scope_.parameters.find(read.array);
    if (parameter != scope_.parameters.end()) {
        if (sort_of(type) != Sort::Real) {
            const Code code =
                integer_code(kernel::variable(parameter->second), range_of(type), true);
            return as_sort(code, sort_of(type));
        }
        return real_code(kernel::variable(parameter->second), scope_.fast);
    }
    std::vector<IndexForm> at;
    for (const Expression& expression : read.index) at.push_back(index(expression, element));
    // Where it stands gets a name of its own if it is long.
    const auto shortened = [&](const IndexForm& place) {
        return named(index_code(place), element).value;
    };
    if (const auto known = scope_.elements.find(read.array); known != scope_.elements.end()) {
        Code code = known->second(at);
        constexpr std::size_t kLongElement = 50;
        if (element.temporaries == nullptr || width_of(code.value) <= kLongElement || !code.place)
            return code;
        code.value = moved(code.value, expression_of(*code.place), shortened(*code.place));
        code.index.reset();
        return code;
    }
    const auto tile = scope_.tiles.find(read.array);
    invariant(tile != scope_.tiles.end(), "no tile for array `",
              (*scope_.arrays)[read.array.index()].name, "`");
    constexpr std::size_t kLongPlace = 48;
    const kernel::Expression whole = place(tile->second, at);
    if (element.temporaries == nullptr || width_of(whole) <= kLongPlace)
        return loaded(whole, tile->second.type);
    return loaded(
        subscript(kernel::variable(tile->second.name), shortened(offset(tile->second, at))),
        tile->second.type);
}

Code limit_of_integers(bool greatest) {
    using Whole = std::numeric_limits<std::int64_t>;
    const std::int64_t limit = greatest ? Whole::max() : Whole::min();
    return integer_code(kernel::Expression(kernel::Integer{limit, true}), kAny64, true);
}

Code ExpressionPrinter::print_integer(const Expression& expression,
                                      const ElementScope& element) const {
    if (const Apply* call = std::get_if<Apply>(&expression.node);
        call != nullptr && call->function == Function::Select)
        return select(*call, element, true);
    const Code code = print(expression, element);
    if (code.constant && std::isinf(*code.constant)) return limit_of_integers(*code.constant > 0);
    return as_sort(code, Sort::Integer);
}

Code ExpressionPrinter::select(const Apply& call, const ElementScope& element,
                               bool is_integer) const {
    ElementScope whole = element;
    whole.temporaries = nullptr;
    Code condition = as_sort(print(call.arguments[0], whole), Sort::Boolean);
    for (const ExpressionScope::Known& known : scope_.known)
        if (known.condition == call.arguments[0]) {
            constexpr std::size_t kLongCondition = 50;
            if (element.temporaries != nullptr && width_of(condition.value) > kLongCondition)
                condition = named(condition, element);
            condition.value =
                known.negated ? known.flag && condition.value : known.flag || condition.value;
        }
    kernel::Body when_true;
    kernel::Body when_false;
    ElementScope true_scope = element;
    ElementScope false_scope = element;
    if (element.temporaries != nullptr) {
        true_scope.temporaries = &when_true;
        false_scope.temporaries = &when_false;
    }
    const auto print_branch = [&](const Expression& value, const ElementScope& scope) {
        return is_integer ? print_integer(value, scope) : print(value, scope);
    };
    Code yes = print_branch(call.arguments[1], true_scope);
    Code no = print_branch(call.arguments[2], false_scope);
    const Sort sort = std::max(yes.sort, no.sort);
    yes = as_sort(yes, sort);
    no = as_sort(no, sort);
    Code code;
    code.sort = sort;
    code.wide = yes.wide || no.wide;
    code.finite = yes.finite && no.finite;
    code.factor = harmless_factor(yes) && harmless_factor(no);
    code.range = hull(yes.range, no.range);
    const bool widen = sort == Sort::Integer && yes.wide != no.wide;
    if (widen)
        for (Code* branch : {&yes, &no})
            *branch = integer_code(expression_as(form_of(*branch), true), branch->range, true);
    const std::size_t branches = width_of(yes.value) + width_of(no.value);
    bool as_statement = !when_true.empty() || !when_false.empty();
    if (element.temporaries != nullptr && width_of(condition.value) + branches > kLongText) {
        condition = named(condition, element);
        as_statement = as_statement || branches > kLongText;
    }
    // A branch with declarations of its own becomes a statement: it is not evaluated when not
    // taken.
    if (as_statement) {
        const std::string name = fmt::format("t{}", (*element.next_temporary)++);
        code.value = kernel::variable(name);
        element.temporaries->push_back(kernel::declare(type_of(code), name));
        when_true.push_back(kernel::assign(code.value, yes.value));
        when_false.push_back(kernel::assign(code.value, no.value));
        element.temporaries->push_back(
            {kernel::If{condition.value, std::move(when_true), std::move(when_false)}});
        return code;
    }
    code.value = choose(condition.value, yes.value, no.value);
    return code;
}

Code ExpressionPrinter::call(const Apply& call, const ElementScope& element) const {
    if (call.function == Function::Select) return select(call, element, false);
    std::vector<Code> arguments;
    // What stands right of `and` and `or` may not be evaluated, so nothing of it is declared
    // before.
    const bool lazy = call.function == Function::And || call.function == Function::Or;
    ElementScope part = element;
    if (lazy) part.temporaries = nullptr;
    for (const Expression& argument : call.arguments) arguments.push_back(print(argument, part));
    const bool constant = std::all_of(arguments.begin(), arguments.end(),
                                      [](const Code& code) { return code.constant.has_value(); });
    if (constant) {
        std::vector<double> values;
        values.reserve(arguments.size());
        for (const Code& code : arguments) values.push_back(*code.constant);
        // Exponents of fast exponentials are in base 2 (schedule/scales.h).
        const bool base_two = scope_.fast && call.function == Function::Exp;
        const double value =
            base_two ? std::exp2(values.front()) : apply_function(call.function, values);
        const bool integers = std::all_of(arguments.begin(), arguments.end(), [](const Code& code) {
            return code.sort == Sort::Integer;
        });
        if (is_comparison_or_logic(call.function)) {
            Code code;
            code.value = value != 0;
            code.sort = Sort::Boolean;
            code.constant = value;
            code.finite = true;
            return code;
        }
        if (integers && call.function != Function::Divide && value == std::floor(value) &&
            std::abs(value) < 0x1p53)
            return index_code(static_cast<std::int64_t>(value));
        return real_constant(value);
    }
    if (call.function == Function::And || call.function == Function::Or)
        return infix(operator_of(call.function), as_sort(arguments[0], Sort::Boolean),
                     as_sort(arguments[1], Sort::Boolean), Sort::Boolean);
    if (call.function == Function::Not) {
        Code code = real_code(!as_sort(arguments[0], Sort::Boolean).value, true);
        code.sort = Sort::Boolean;
        return code;
    }
    Sort sort = Sort::Boolean;
    for (const Code& argument : arguments) sort = std::max(sort, argument.sort);
    if (is_comparison_or_logic(call.function)) {
        for (Code& argument : arguments) argument = as_sort(argument, sort);
        return infix(operator_of(call.function), arguments[0], arguments[1], Sort::Boolean);
    }
    if (sort == Sort::Boolean) sort = Sort::Integer;
    const bool stays_integer =
        call.function == Function::Negate || call.function == Function::Add ||
        call.function == Function::Subtract || call.function == Function::Multiply ||
        call.function == Function::FloorDivide || call.function == Function::Modulo ||
        call.function == Function::Abs || call.function == Function::Min ||
        call.function == Function::Max || call.function == Function::Floor ||
        call.function == Function::Guard || is_bit_operation(call.function) || is_whole_power(call);
    if (!stays_integer) sort = Sort::Real;
    for (Code& argument : arguments) argument = as_sort(argument, sort);
    return sort == Sort::Integer ? integer_call(call, arguments)
                                 : real_call(call, arguments, element);
}

}  // namespace napkin::lowering
