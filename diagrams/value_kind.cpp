#include "diagrams/value_kind.h"

#include <cmath>
#include <utility>

#include "diagrams/overloaded.h"

namespace napkin {
namespace {

ValueKind join_kinds(ValueKind a, ValueKind b) {
    if (a == b) return a;
    return ValueKind::Real;
}

ValueKind kind_of_call(const Diagram& diagram, const Apply& call,
                       const std::vector<ValueKind>& operands) {
    std::vector<ValueKind> kinds;
    for (const Expression& argument : call.arguments)
        kinds.push_back(kind_of(diagram, argument, operands));
    if (is_comparison_or_logic(call.function)) return ValueKind::Bool;
    switch (call.function) {
    case Function::Negate:
    case Function::Abs:
    case Function::Guard: return kinds.at(0);
    case Function::Add:
    case Function::Subtract:
    case Function::Multiply:
    case Function::FloorDivide:
    case Function::Modulo:
    case Function::BitAnd:
    case Function::BitOr:
    case Function::BitXor:
    case Function::ShiftLeft:
    case Function::ShiftRight:
    case Function::Min:
    case Function::Max: return join_kinds(kinds.at(0), kinds.at(1));
    case Function::Select: return join_kinds(kinds.at(1), kinds.at(2));
    case Function::Power: {
        const Number* exponent = std::get_if<Number>(&call.arguments.at(1).node);
        const bool whole = exponent != nullptr && exponent->is_integer && exponent->value >= 0;
        return whole ? kinds.at(0) : ValueKind::Real;
    }
    default: return ValueKind::Real;
    }
}

bool is_infinite(const Expression& expression) {
    const double* value = literal(expression);
    return value != nullptr && std::isinf(*value);
}

/// The kind of what a statement keeps of an expression that is an integer or infinite.
ValueKind kind_but_infinities(const Diagram& diagram, const Expression& expression) {
    if (is_infinite(expression)) return ValueKind::Integer;
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr || call->function != Function::Select) return kind_of(diagram, expression);
    return join_kinds(kind_but_infinities(diagram, call->arguments[1]),
                      kind_but_infinities(diagram, call->arguments[2]));
}

/// Of a fold of values of these kinds.
template <class KindOf>
ValueKind kind_of_fold(const Diagram& diagram, const Fold& fold, std::size_t component,
                       const KindOf& kind) {
    std::vector<ValueKind> operands;
    const std::vector<Expression>& left = fold.seed.empty() ? fold.values : fold.seed;
    for (const Expression& each : left) operands.push_back(kind(each));
    for (const Expression& each : fold.values) operands.push_back(kind(each));
    const ValueKind combined = kind_of(diagram, diagram[fold.monoid].combine[component], operands);
    return join_kinds(combined, operands[fold.values.size() + component]);
}

/// Of what a statement makes of values of these kinds.
template <class KindOf>
std::optional<ValueKind> kind_made(const Diagram& diagram, const Statement& statement,
                                   std::size_t component, const KindOf& kind) {
    using Found = std::optional<ValueKind>;
    return std::visit(
        overloaded{
            [&](const Map& map) {
                return is_infinite(map.value) ? Found() : Found(kind(map.value));
            },
            [&](const Fold& fold) { return Found(kind_of_fold(diagram, fold, component, kind)); },
            [&](const Select& select) {
                return Found(component == 0 ? kind(select.value) : ValueKind::Integer);
            },
            [](const Opaque&) { return Found(); },
        },
        statement.body);
}

ElementType derived_type(ValueKind kind) {
    switch (kind) {
    case ValueKind::Bool: return ElementType::Bool;
    case ValueKind::Integer: return ElementType::I64;
    case ValueKind::Real: return ElementType::F32;
    }
    throw InternalError("unknown kind");
}

}  // namespace

ValueKind kind_of(ElementType type) {
    if (type == ElementType::Bool) return ValueKind::Bool;
    return is_floating(type) ? ValueKind::Real : ValueKind::Integer;
}

ValueKind kind_of(const Diagram& diagram, const Expression& expression,
                  const std::vector<ValueKind>& operands) {
    return std::visit(overloaded{
                          [](const Number& value) {
                              return value.is_integer ? ValueKind::Integer : ValueKind::Real;
                          },
                          [](const AxisIndex&) { return ValueKind::Integer; },
                          [](const SizeOf&) { return ValueKind::Integer; },
                          [&](const Read& element) { return kind_of(diagram[element.array].type); },
                          [&](const Apply& call) { return kind_of_call(diagram, call, operands); },
                          [](const Convert& convert) { return kind_of(convert.type); },
                          [&](const Operand& operand) {
                              return operand.slot < operands.size() ? operands[operand.slot]
                                                                    : ValueKind::Real;
                          },
                      },
                      expression.node);
}

std::optional<ValueKind> kind_of(const Diagram& diagram, const Statement& statement,
                                 std::size_t component) {
    return kind_made(diagram, statement, component,
                     [&](const Expression& value) { return kind_of(diagram, value); });
}

bool computes_reals(const Diagram& diagram, const Statement& statement, std::size_t component) {
    return kind_made(diagram, statement, component, [&](const Expression& value) {
               return kind_but_infinities(diagram, value);
           }) == ValueKind::Real;
}

std::optional<ValueKind> kept_kind(const Diagram& diagram, const Statement& statement,
                                   std::size_t component) {
    const Array& target = diagram[statement.targets[component]];
    const std::optional<ValueKind> kind = kind_of(diagram, statement, component);
    const bool keeps = kind == ValueKind::Real && !target.rounds &&
                       kind_of(target.type) == ValueKind::Integer &&
                       !computes_reals(diagram, statement, component);
    return keeps ? ValueKind::Integer : kind;
}

void settle_types(Diagram& diagram, const std::set<ArrayId>& made,
                  const std::vector<const Statement*>& statements) {
    for (const ArrayId each : made) diagram.arrays[each.index()].type = ElementType::I64;
    // What reads a real is one; integers are what is left.
    for (bool changes = true; std::exchange(changes, false);)
        for (const Statement* statement : statements)
            for (std::size_t i = 0; i < statement->targets.size(); ++i) {
                Array& target = diagram.arrays[statement->targets[i].index()];
                if (!made.contains(statement->targets[i]) || is_floating(target.type)) continue;
                const std::optional<ValueKind> kind = kind_of(diagram, *statement, i);
                if (!kind || *kind == kind_of(target.type)) continue;
                target.type = derived_type(*kind);
                changes = true;
            }
}

std::optional<ArrayId> inexact_target(const Diagram& diagram, const Statement& statement) {
    for (std::size_t i = 0; i < statement.targets.size(); ++i) {
        const Array& target = diagram[statement.targets[i]];
        if (!target.rounds && !is_floating(target.type) && computes_reals(diagram, statement, i))
            return statement.targets[i];
    }
    return std::nullopt;
}

}  // namespace napkin
