#include "diagrams/check/types.h"

#include <algorithm>
#include <cmath>

#include "diagrams/check/messages.h"
#include "diagrams/overloaded.h"

namespace napkin::checking {

namespace {

/// Checks one node whose parts are already checked.
class NodeChecker {
public:
    NodeChecker(Context& context, bool& good) : context_(context), good_(good) {}

    void check(const Expression& part) {
        if (const Read* element = std::get_if<Read>(&part.node)) check_read(*element);
        if (const Apply* call = std::get_if<Apply>(&part.node)) check_call(*call, part.span);
        if (const Convert* convert = std::get_if<Convert>(&part.node))
            if (convert->type == ElementType::Bool &&
                kind(convert->argument.front()) != ValueKind::Bool)
                fail(messages::not_a_condition(convert->argument.front().span, "`bool(...)`"));
    }

private:
    ValueKind kind(const Expression& expression) const {
        return kind_of(context_.diagram, expression);
    }
    void fail(Diagnostic diagnostic) {
        context_.report(std::move(diagnostic));
        good_ = false;
    }

    void check_read(const Read& element) {
        for (const Expression& index : element.index)
            if (kind(index) != ValueKind::Integer)
                fail(messages::real_index(index.span, napkin::print(context_.diagram, index),
                                          context_.diagram[element.array].name));
    }

    /// `finfo.min` for -inf: finite until an exponent's scale makes it more than f32 holds.
    void check_hidden(const Expression& branch) {
        constexpr double kHuge = 1e37;
        const Apply* negated = std::get_if<Apply>(&branch.node);
        const bool is_negated = negated != nullptr && negated->function == Function::Negate;
        const Number* number =
            std::get_if<Number>(is_negated ? &negated->arguments[0].node : &branch.node);
        if (number == nullptr || !std::isfinite(number->value)) return;
        if ((is_negated ? -number->value : number->value) > -kHuge) return;
        // A library's definition has its argument several times.
        Diagnostic warning = messages::hides_by_a_number(branch.span);
        const std::vector<Diagnostic>& known = context_.warnings.list;
        if (std::none_of(known.begin(), known.end(), [&](const Diagnostic& each) {
                return each.code == warning.code &&
                       each.primary.span.begin == warning.primary.span.begin;
            }))
            context_.warnings.add(std::move(warning));
    }

    void check_call(const Apply& call, Span span) {
        const std::vector<Expression>& arguments = call.arguments;
        if (call.function == Function::Select)
            for (const std::size_t branch : {1U, 2U}) check_hidden(arguments[branch]);
        const std::string name = name_of(call.function);
        switch (call.function) {
        case Function::And:
        case Function::Or:
        case Function::Not:
            for (const Expression& argument : arguments) need_condition(argument, "`" + name + "`");
            return;
        case Function::Equal:
        case Function::NotEqual:
            if ((kind(arguments[0]) == ValueKind::Bool) != (kind(arguments[1]) == ValueKind::Bool))
                fail(messages::bool_mixed(span, "`" + name + "` compares two kinds"));
            return;
        case Function::Select:
            need_condition(arguments[0], "`if`");
            if ((kind(arguments[1]) == ValueKind::Bool) != (kind(arguments[2]) == ValueKind::Bool))
                fail(messages::bool_mixed(span, "`then` and `else` are of two kinds"));
            return;
        case Function::FloorDivide:
        case Function::Modulo:
        case Function::BitAnd:
        case Function::BitOr:
        case Function::BitXor:
        case Function::ShiftLeft:
        case Function::ShiftRight:
            for (const Expression& argument : arguments)
                if (kind(argument) == ValueKind::Real)
                    fail(messages::integers_only(argument.span, name));
            break;
        default: break;
        }
        for (const Expression& argument : arguments)
            if (kind(argument) == ValueKind::Bool)
                fail(messages::bool_in_arithmetic(argument.span, "`" + name + "`"));
    }

    void need_condition(const Expression& expression, const std::string& where) {
        if (kind(expression) != ValueKind::Bool)
            fail(messages::not_a_condition(expression.span, where));
    }

    Context& context_;
    bool& good_;
};

/// The range of a part of an expression, where it follows from sizes alone.
std::optional<Interval> known_range(Context& context, const Expression& part) {
    if (const AxisIndex* index = std::get_if<AxisIndex>(&part.node))
        return Interval{0, context.axis(index->axis).extent - 1};
    if (const SizeOf* size = std::get_if<SizeOf>(&part.node)) {
        const std::int64_t extent = context.axis(size->axis).extent;
        return Interval{extent, extent};
    }
    const Read* read = std::get_if<Read>(&part.node);
    if (read == nullptr) return std::nullopt;
    const auto known = context.integers.find(read->array);
    return known == context.integers.end() ? std::nullopt : std::optional(known->second);
}

/// The size that an axis may have when a kernel runs.
std::int64_t largest_size(const Axis& axis) {
    return axis.dynamic ? kExactIntegers.high : axis.extent;
}

/// The range of an expression of which values of inputs may be any that their types have, and sizes
/// at run time any at all.
std::optional<Interval> possible_range(Context& context, const Expression& expression) {
    const std::vector<Axis>& axes = context.diagram.axes;
    const bool fixed =
        std::none_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.dynamic; });
    return value_range(expression, [&](const Expression& part) -> std::optional<Interval> {
        if (const AxisIndex* index = std::get_if<AxisIndex>(&part.node))
            return Interval{0, largest_size(context.axis(index->axis)) - 1};
        if (const SizeOf* size = std::get_if<SizeOf>(&part.node)) {
            const Axis& axis = context.axis(size->axis);
            return Interval{axis.dynamic ? 1 : axis.extent, largest_size(axis)};
        }
        const Read* read = std::get_if<Read>(&part.node);
        if (read == nullptr) return std::nullopt;
        const ElementType type = context.array(read->array).type;
        const std::optional<Interval> known = known_range(context, part);
        if (known && (fixed || type != ElementType::I64)) return known;
        return is_floating(type) ? std::nullopt : std::optional(range_of(type));
    });
}

/// The ranges of the expression's integers that follow from sizes alone; reports the first that may
/// be none of the language's. Values of inputs are not judged.
std::optional<Interval> check_range(Context& context, const Expression& expression) {
    const LeafRange leaf = [&](const Expression& part) { return known_range(context, part); };
    bool good = true;
    const std::optional<Interval> range =
        value_range(expression, leaf, [&](const Expression& part, const Interval& values) {
            if (values.within(kExactIntegers) || !good) return;
            good = false;
            context.report(
                messages::integer_too_large(part.span, napkin::print(context.diagram, part)));
        });
    return good ? range : std::nullopt;
}

ElementType inferred_type(ValueKind kind, const std::optional<Interval>& range) {
    if (kind == ValueKind::Bool) return ElementType::Bool;
    if (kind == ValueKind::Real) return ElementType::F32;
    return range && range->within(kAny32) ? ElementType::I32 : ElementType::I64;
}

/// `range` follows from sizes alone; `possible` allows all values of inputs, nullopt any integer.
void assign(Context& context, ArrayId target, ValueKind kind, const std::optional<Interval>& range,
            const std::optional<Interval>& possible) {
    Array& array = context.array(target);
    if (!array.rounds) array.type = inferred_type(kind, possible);
    if (kind == ValueKind::Integer && range)
        context.integers[target] =
            range->within(range_of(array.type)) ? *range : range_of(array.type);
    if (!array.rounds) return;
    if ((array.type == ElementType::Bool) != (kind == ValueKind::Bool))
        context.report(messages::type_mismatch(array.span, array.name, name_of(array.type),
                                               kind == ValueKind::Bool));
}

/// Of a fold of values in a range, where one is known; `size` says how long an axis may be.
template <class Size>
std::optional<Interval> folded_range(const Context& context, const Fold& fold,
                                     const std::optional<Interval>& values, const Size& size) {
    if (!values || fold.monoid == kMax || fold.monoid == kMin) return values;
    if (fold.monoid != kSum) return std::nullopt;
    Interval count = {0, 1};
    for (const AxisId axis : fold.over) count = count * Interval{0, size(context.diagram[axis])};
    return *values * count;
}

void assign_fold(Context& context, const Statement& statement, const Fold& fold) {
    const Monoid& monoid = context.diagram[fold.monoid];
    std::vector<ValueKind> kinds;
    for (const Expression& value : fold.values) {
        kinds.push_back(kind_of(context.diagram, value));
        if (kinds.back() == ValueKind::Bool)
            context.report(messages::bool_in_arithmetic(value.span, "`" + monoid.name + "`"));
    }
    std::vector<ValueKind> operands = kinds;
    operands.insert(operands.end(), kinds.begin(), kinds.end());
    for (std::size_t i = 0; i < statement.targets.size(); ++i) {
        const ValueKind combined = kind_of(context.diagram, monoid.combine[i], operands);
        const bool whole = combined == ValueKind::Integer && kinds[i] == ValueKind::Integer;
        assign(context, statement.targets[i], whole ? ValueKind::Integer : ValueKind::Real,
               folded_range(context, fold, check_range(context, fold.values[i]),
                            [](const Axis& axis) { return axis.extent; }),
               folded_range(context, fold, possible_range(context, fold.values[i]), largest_size));
    }
}

}  // namespace

bool check_types(Context& context, const Expression& expression) {
    bool good = true;
    NodeChecker checker(context, good);
    for (ArrayId array : arrays_read(expression))
        if (context.failed.contains(array)) return false;
    walk(expression, [&](const Expression& part) { checker.check(part); });
    return good;
}

void assign_types(Context& context, const Statement& statement) {
    bool good = true;
    for (const Expression* expression : expressions_of(statement))
        good = check_types(context, *expression) && good;
    if (!good) {
        context.failed.insert(statement.targets.begin(), statement.targets.end());
        return;
    }
    std::visit(
        overloaded{
            [&](const Map& map) {
                assign(context, statement.targets[0], kind_of(context.diagram, map.value),
                       check_range(context, map.value), possible_range(context, map.value));
            },
            [&](const Fold& fold) { assign_fold(context, statement, fold); },
            [&](const Select& select) {
                check_range(context, select.value);
                if (kind_of(context.diagram, select.value) == ValueKind::Bool)
                    context.report(messages::bool_in_arithmetic(select.value.span, "a selection"));
                assign(context, statement.targets[0], kind_of(context.diagram, select.value),
                       std::nullopt, possible_range(context, select.value));
                assign(context, statement.targets[1], ValueKind::Integer, std::nullopt, kAny32);
            },
            [](const Opaque&) {},
        },
        statement.body);
}

}  // namespace napkin::checking
