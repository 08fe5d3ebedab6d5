#include "codegen/lowering/expression_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagrams/evaluate.h"
#include "diagrams/overloaded.h"

namespace napkin::lowering {
namespace {

const char* relation_of(Function function) {
    switch (function) {
    case Function::Less: return "<";
    case Function::LessEqual: return "<=";
    case Function::Greater: return ">";
    case Function::GreaterEqual: return ">=";
    case Function::Equal: return "==";
    default: return "!=";
    }
}

bool is_whole_power(const Apply& call) {
    if (call.function != Function::Power) return false;
    const Number* exponent = std::get_if<Number>(&call.arguments[1].node);
    return exponent != nullptr && exponent->is_integer && exponent->value >= 0;
}

}  // namespace

Code named(const Code& value, const ElementScope& element) {
    Code name = value;
    name.text = fmt::format("t{}", (*element.next_temporary)++);
    name.precedence = precedence::kPrimary;
    name.index.reset();
    element.temporaries->push_back(
        {kernel::Declare{type_of(value), name.text, value.text, true, {}}});
    return name;
}

IndexForm ExpressionPrinter::offset(const TileView& tile, const std::vector<IndexForm>& index) {
    IndexForm at;
    for (std::size_t d = 0; d < index.size(); ++d)
        at = at + (index[d] - tile.origin[d]) * tile.stride[d];
    return at;
}

std::string ExpressionPrinter::place(const TileView& tile, const std::vector<IndexForm>& index) {
    return fmt::format("{}[{}]", tile.name, napkin::print(offset(tile, index)));
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
    return integer_code(code.text, {0, size.high - 1}, code.wide);
}

Code ExpressionPrinter::read_element(const Read& read, const ElementScope& element) const {
    const ElementType type = (*scope_.arrays)[read.array.index()].type;
    const auto parameter = scope_.parameters.find(read.array);
    if (parameter != scope_.parameters.end()) {
        if (sort_of(type) != Sort::Real) {
            const Code code = integer_code(parameter->second, range_of(type), true);
            return as_sort(code, sort_of(type));
        }
        Code code;
        code.text = parameter->second;
        code.finite = scope_.fast;
        return code;
    }
    std::vector<IndexForm> at;
    for (const Expression& expression : read.index) at.push_back(index(expression, element));
    // Where it stands gets a name of its own if it is long.
    const auto shortened = [&](const IndexForm& place) {
        return named(index_code(place), element).text;
    };
    if (const auto known = scope_.elements.find(read.array); known != scope_.elements.end()) {
        Code code = known->second(at);
        constexpr std::size_t kLongElement = 50;
        if (element.temporaries == nullptr || code.text.size() <= kLongElement || !code.place)
            return code;
        const std::string place = napkin::print(*code.place);
        code.text.replace(code.text.find("[" + place + "]") + 1, place.size(),
                          shortened(*code.place));
        code.index.reset();
        return code;
    }
    const auto tile = scope_.tiles.find(read.array);
    invariant(tile != scope_.tiles.end(), "no tile for array `",
              (*scope_.arrays)[read.array.index()].name, "`");
    constexpr std::size_t kLongPlace = 48;
    const std::string whole = place(tile->second, at);
    if (element.temporaries == nullptr || whole.size() <= kLongPlace)
        return loaded(whole, tile->second.type);
    return loaded(fmt::format("{}[{}]", tile->second.name, shortened(offset(tile->second, at))),
                  tile->second.type);
}

Code ExpressionPrinter::select(const Apply& call, const ElementScope& element) const {
    ElementScope whole = element;
    whole.temporaries = nullptr;
    Code condition = as_sort(print(call.arguments[0], whole), Sort::Boolean);
    for (const ExpressionScope::Known& known : scope_.known)
        if (known.condition == call.arguments[0]) {
            constexpr std::size_t kLongCondition = 50;
            if (element.temporaries != nullptr && condition.text.size() > kLongCondition)
                condition = named(condition, element);
            const int own = known.negated ? precedence::kAnd : precedence::kOr;
            const bool brackets =
                condition.precedence == precedence::kAnd || condition.precedence == precedence::kOr;
            condition.text = fmt::format("{} {} {}", known.flag, known.negated ? "&&" : "||",
                                         brackets ? "(" + condition.text + ")" : condition.text);
            condition.precedence = own;
        }
    kernel::Body when_true;
    kernel::Body when_false;
    ElementScope true_scope = element;
    ElementScope false_scope = element;
    if (element.temporaries != nullptr) {
        true_scope.temporaries = &when_true;
        false_scope.temporaries = &when_false;
    }
    Code yes = print(call.arguments[1], true_scope);
    Code no = print(call.arguments[2], false_scope);
    const Sort sort = std::max(yes.sort, no.sort);
    yes = as_sort(yes, sort);
    no = as_sort(no, sort);
    Code code;
    code.sort = sort;
    code.wide = yes.wide || no.wide;
    code.finite = yes.finite && no.finite;
    code.precedence = precedence::kChoice;
    code.range = hull(yes.range, no.range);
    const bool widen = sort == Sort::Integer && yes.wide != no.wide;
    if (widen)
        for (Code* branch : {&yes, &no})
            *branch = integer_code(print_as(form_of(*branch), true), branch->range, true);
    const std::size_t length = condition.text.size() + yes.text.size() + no.text.size();
    bool as_statement = !when_true.empty() || !when_false.empty();
    if (element.temporaries != nullptr && length > kLongText) {
        condition = named(condition, element);
        as_statement = as_statement || yes.text.size() + no.text.size() > kLongText;
    }
    // A branch with declarations of its own becomes a statement: it is not evaluated when not
    // taken.
    if (as_statement) {
        code.text = fmt::format("t{}", (*element.next_temporary)++);
        element.temporaries->push_back({kernel::Declare{type_of(code), code.text, "", false, {}}});
        when_true.push_back({kernel::Assign{code.text, "=", yes.text}});
        when_false.push_back({kernel::Assign{code.text, "=", no.text}});
        element.temporaries->push_back(
            {kernel::If{condition.text, std::move(when_true), std::move(when_false)}});
        code.precedence = precedence::kPrimary;
        return code;
    }
    code.text = fmt::format("{} ? {} : {}", wrapped(condition, precedence::kChoice + 1),
                            wrapped(yes, precedence::kChoice), wrapped(no, precedence::kChoice));
    return code;
}

Code ExpressionPrinter::call(const Apply& call, const ElementScope& element) const {
    if (call.function == Function::Select) return select(call, element);
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
            code.text = value != 0 ? "true" : "false";
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
        return infix(
            as_sort(arguments[0], Sort::Boolean), call.function == Function::And ? "&&" : "||",
            as_sort(arguments[1], Sort::Boolean),
            call.function == Function::And ? precedence::kAnd : precedence::kOr, Sort::Boolean);
    if (call.function == Function::Not) {
        Code code;
        code.text = "!" + wrapped(as_sort(arguments[0], Sort::Boolean), precedence::kUnary);
        code.precedence = precedence::kUnary;
        code.sort = Sort::Boolean;
        code.finite = true;
        return code;
    }
    Sort sort = Sort::Boolean;
    for (const Code& argument : arguments) sort = std::max(sort, argument.sort);
    if (is_comparison_or_logic(call.function)) {
        for (Code& argument : arguments) argument = as_sort(argument, sort);
        const bool equality =
            call.function == Function::Equal || call.function == Function::NotEqual;
        return infix(arguments[0], relation_of(call.function), arguments[1],
                     equality ? precedence::kEquality : precedence::kRelation, Sort::Boolean);
    }
    if (sort == Sort::Boolean) sort = Sort::Integer;
    const bool stays_integer =
        call.function == Function::Negate || call.function == Function::Add ||
        call.function == Function::Subtract || call.function == Function::Multiply ||
        call.function == Function::FloorDivide || call.function == Function::Modulo ||
        call.function == Function::Abs || call.function == Function::Min ||
        call.function == Function::Max || call.function == Function::Floor ||
        is_bit_operation(call.function) || is_whole_power(call);
    if (!stays_integer) sort = Sort::Real;
    for (Code& argument : arguments) argument = as_sort(argument, sort);
    return sort == Sort::Integer ? integer_call(call, arguments)
                                 : real_call(call, arguments, element);
}

}  // namespace napkin::lowering
