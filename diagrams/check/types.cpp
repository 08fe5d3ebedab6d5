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
        context_.warn(messages::hides_by_a_number(branch.span));
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

/// The sizes that an axis may have: those of a kernel's run time, or the one given.
Interval sizes_of(const Axis& axis, bool at_run_time) {
    if (!at_run_time || !axis.dynamic) return {axis.extent, axis.extent};
    return {1, std::max(axis.extent, kMostAtRunTime)};
}

/// The range of a part of an expression, where it follows from sizes alone.
std::optional<Interval> known_range(const Context& context, const Expression& part,
                                    bool at_run_time) {
    if (const AxisIndex* index = std::get_if<AxisIndex>(&part.node))
        return Interval{0, sizes_of(context.diagram[index->axis], at_run_time).high - 1};
    if (const SizeOf* size = std::get_if<SizeOf>(&part.node))
        return sizes_of(context.diagram[size->axis], at_run_time);
    const Read* read = std::get_if<Read>(&part.node);
    if (read == nullptr) return std::nullopt;
    const auto& ranges = at_run_time ? context.integers_at_run_time : context.integers;
    const auto known = ranges.find(read->array);
    return known == ranges.end() ? std::nullopt : std::optional(known->second);
}

/// The range of an expression at every size that a kernel may be given, of which values of inputs
/// may be any that their types have.
std::optional<Interval> possible_range(const Context& context, const Expression& expression) {
    return value_range(expression, [&](const Expression& part) -> std::optional<Interval> {
        if (const std::optional<Interval> known = known_range(context, part, true)) return known;
        const Read* read = std::get_if<Read>(&part.node);
        if (read == nullptr) return std::nullopt;
        const ElementType type = context.diagram[read->array].type;
        return is_floating(type) ? std::nullopt : std::optional(range_of(type));
    });
}

/// The ranges of the expression's integers that follow from sizes alone; reports the first that may
/// be none of the language's. Values of inputs are not judged.
std::optional<Interval> check_range(Context& context, const Expression& expression) {
    const LeafRange leaf = [&](const Expression& part) {
        return known_range(context, part, false);
    };
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

/// What integers may be. Nullopt is any number.
struct Ranges {
    std::optional<Interval> known;     ///< by the sizes given alone
    std::optional<Interval> possible;  ///< at every size of a run, for any values of inputs
};

Ranges check_ranges(Context& context, const Expression& expression) {
    return {check_range(context, expression), possible_range(context, expression)};
}

void know(std::map<ArrayId, Interval>& integers, ArrayId array, const Interval& range,
          ElementType type) {
    integers[array] = range.within(range_of(type)) ? range : range_of(type);
}

void assign(Context& context, ArrayId target, ValueKind kind, const Ranges& ranges = {}) {
    Array& array = context.array(target);
    if (!array.rounds) array.type = inferred_type(kind, ranges.possible);
    if (kind == ValueKind::Integer && ranges.known) {
        know(context.integers, target, *ranges.known, array.type);
        if (ranges.possible)
            know(context.integers_at_run_time, target, *ranges.possible, array.type);
    }
    if (!array.rounds) return;
    if ((array.type == ElementType::Bool) != (kind == ValueKind::Bool))
        context.report(messages::type_mismatch(array.span, array.name, name_of(array.type),
                                               kind == ValueKind::Bool));
}

/// How many values a fold takes in.
Interval folded_count(const Context& context, const Fold& fold, bool at_run_time) {
    Interval count = {0, 1};
    for (const AxisId axis : fold.over)
        count = count * Interval{0, sizes_of(context.diagram[axis], at_run_time).high};
    return count;
}

/// Whether combining values in the ranges gives values in them.
bool is_closed(const Monoid& monoid, const std::vector<Ranges>& values) {
    const LeafRange leaf = [&](const Expression& part) {
        const Operand* operand = std::get_if<Operand>(&part.node);
        return operand == nullptr ? std::nullopt : values[operand->slot % values.size()].possible;
    };
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!values[i].possible) continue;
        const std::optional<Interval> combined = value_range(monoid.combine[i], leaf);
        if (!combined || !combined->within(*values[i].possible)) return false;
        const std::optional<Interval> identity = value_range(monoid.identity[i], leaf);
        if (identity && !identity->within(*values[i].possible)) return false;
    }
    return true;
}

/// Of what a fold makes of values in the ranges.
std::vector<Ranges> folded_ranges(const Context& context, const Fold& fold,
                                  std::vector<Ranges> values) {
    if (fold.monoid == kSum)
        for (Ranges& each : values) {
            if (each.known) each.known = *each.known * folded_count(context, fold, false);
            if (each.possible) each.possible = *each.possible * folded_count(context, fold, true);
        }
    else if (!is_closed(context.diagram[fold.monoid], values))
        return std::vector<Ranges>(values.size());
    return values;
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
    std::vector<Ranges> ranges;
    for (const Expression& value : fold.values) ranges.push_back(check_ranges(context, value));
    ranges = folded_ranges(context, fold, std::move(ranges));
    for (std::size_t i = 0; i < statement.targets.size(); ++i) {
        const ValueKind combined = kind_of(context.diagram, monoid.combine[i], operands);
        const bool whole = combined == ValueKind::Integer && kinds[i] == ValueKind::Integer;
        assign(context, statement.targets[i], whole ? ValueKind::Integer : ValueKind::Real,
               ranges[i]);
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
                       check_ranges(context, map.value));
            },
            [&](const Fold& fold) { assign_fold(context, statement, fold); },
            [&](const Select& select) {
                const Ranges ranges = check_ranges(context, select.value);
                if (kind_of(context.diagram, select.value) == ValueKind::Bool)
                    context.report(messages::bool_in_arithmetic(select.value.span, "a selection"));
                assign(context, statement.targets[0], kind_of(context.diagram, select.value),
                       ranges);
                assign(context, statement.targets[1], ValueKind::Integer,
                       {std::nullopt, Interval{0, kAny32.high}});
            },
            [](const Opaque&) {},
        },
        statement.body);
}

}  // namespace napkin::checking
