#include "diagrams/check/resolve.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "diagrams/check/constants.h"
#include "diagrams/check/functions.h"
#include "diagrams/check/messages.h"

namespace napkin::checking {

namespace {

// Bounds on what definitions may grow to, so that recursion over expressions stays shallow.
constexpr std::size_t kMostNodes = 20000;

Expression negated(const Expression& condition) {
    Expression expression = apply(Function::Not, {condition});
    expression.span = condition.span;
    return expression;
}

/// Adds what a condition says, conjunct by conjunct: a reduction keeps those that do not name its
/// axes.
void add_guards(std::vector<Expression>& guards, const Expression& condition, bool holds) {
    const Apply* call = std::get_if<Apply>(&condition.node);
    if (call != nullptr && call->function == Function::Not) {
        add_guards(guards, call->arguments[0], !holds);
    } else if (call != nullptr && call->function == (holds ? Function::And : Function::Or)) {
        for (const Expression& part : call->arguments) add_guards(guards, part, holds);
    } else {
        guards.push_back(holds ? condition : negated(condition));
    }
}

Scope guarded(const Scope& scope, const Expression& condition, bool holds) {
    Scope inner = scope;
    add_guards(inner.guards, condition, holds);
    return inner;
}

}  // namespace

Resolver::Resolver(Context& context, std::string target, std::vector<AxisId> axes, BoxId box,
                   Span line)
    : context_(context),
      target_(std::move(target)),
      target_axes_(std::move(axes)),
      box_(box),
      line_(line) {}

bool Resolver::spend(std::size_t nodes) {
    spent_ += nodes;
    if (spent_ <= kMostNodes) return true;
    if (spent_ - nodes <= kMostNodes) context_.report(messages::too_large(line_, kMostNodes));
    return false;
}

std::optional<Expression> Resolver::value(const syntax::Expression& source, const Scope& scope) {
    const Span span = placed(source.span, scope);
    if (!spend(1)) return std::nullopt;
    const Scope* here = &scope;
    Scope inside;
    if (source.parenthesised && !scope.open.empty()) {
        inside = delimited(scope);
        here = &inside;
    }
    return std::visit([&](const auto& item) { return node(item, span, *here); }, source.node);
}

Resolver::Maybe Resolver::node(const syntax::Literal& literal, Span span, const Scope&) {
    return make(Number{literal.value, literal.is_integer}, span);
}

Resolver::Maybe Resolver::node(const syntax::Reference& name, Span span, const Scope& scope) {
    if (name.name.text == "inf")
        return make(Number{std::numeric_limits<double>::infinity(), false}, span);
    if (scope.values.contains(name.name.text) || scope.axes.contains(name.name.text))
        return bound_name(name.name, span, scope);
    if (!scope.definition.empty()) {
        context_.report(
            messages::outside_definition(name.name.span, name.name.text, scope.definition));
        return std::nullopt;
    }
    return diagram_name(name.name, span, scope);
}

/// A name of a definition or let: a parameter's value, or a bracket axis' index.
Resolver::Maybe Resolver::bound_name(const syntax::Name& name, Span span, const Scope& scope) {
    if (const auto found = scope.values.find(name.text); found != scope.values.end()) {
        std::size_t nodes = 0;
        walk(found->second, [&](const Expression&) { ++nodes; });
        return spend(nodes) ? Maybe(found->second) : std::nullopt;
    }
    const AxisBinding& binding = scope.axes.at(name.text);
    if (binding.index) return *binding.index;
    if (binding.axes.size() == 1) return make(AxisIndex{binding.axes.front()}, span);
    context_.report(messages::several_axes_as_index(span, name.text));
    return std::nullopt;
}

Resolver::Maybe Resolver::diagram_name(const syntax::Name& name, Span span, const Scope& scope) {
    if (context_.axes.contains(name.text) || context_.invented.contains(name.text))
        return make(AxisIndex{context_.find_axis(name)}, span);
    if (const auto let = context_.lets.find(name.text); let != context_.lets.end())
        return let_value(*let->second, {}, span, scope);
    if (const auto found = context_.arrays.find(name.text); found != context_.arrays.end()) {
        const Array& array = context_.array(found->second);
        if (array.axes.empty()) return make(Read{found->second, {}}, span);
        std::vector<std::string> axes;
        for (AxisId axis : array.axes) axes.push_back(context_.axis(axis).name);
        context_.report(messages::wrong_index_count(span, name.text, 0, axes));
        return std::nullopt;
    }
    if (const auto found = context_.later.find(name.text); found != context_.later.end()) {
        context_.report(messages::used_before(span, name.text, found->second));
        return std::nullopt;
    }
    std::vector<std::string> known = names_of(context_.places);
    context_.report(
        messages::unknown_name(span, name.text, suggestion(name.text, known), scope.in_index));
    return std::nullopt;
}

Resolver::Maybe Resolver::node(const syntax::Access& access, Span span, const Scope& scope) {
    const std::string& name = access.array.text;
    if (!scope.definition.empty()) {
        context_.report(messages::outside_definition(access.array.span, name, scope.definition));
        return std::nullopt;
    }
    if (const auto let = context_.lets.find(name); let != context_.lets.end())
        return let_value(*let->second, access.index, span, scope);
    Scope brackets = scope;
    brackets.in_index = true;
    std::optional<std::vector<Expression>> index = arguments(access.index, brackets);
    const auto found = context_.arrays.find(name);
    if (found == context_.arrays.end()) {
        const Span place = placed(access.array.span, scope);
        if (context_.axes.contains(name))
            context_.report(messages::axis_indexed(place, name));
        else if (context_.later.contains(name))
            context_.report(messages::used_before(place, name, context_.later.at(name)));
        else
            context_.report(
                messages::unknown_array(place, name, suggestion(name, names_of(context_.arrays))));
        return std::nullopt;
    }
    const Array& array = context_.array(found->second);
    if (access.index.size() != array.axes.size()) {
        std::vector<std::string> axes;
        for (AxisId axis : array.axes) axes.push_back(context_.axis(axis).name);
        if (!context_.failed.contains(found->second))
            context_.report(messages::wrong_index_count(span, name, access.index.size(), axes));
        return std::nullopt;
    }
    if (!index) return std::nullopt;
    return make(Read{found->second, std::move(*index)}, span);
}

std::optional<std::vector<Expression>> Resolver::arguments(
    const std::vector<syntax::Expression>& list, const Scope& scope) {
    const Scope inside = delimited(scope);
    std::vector<Expression> values;
    for (const syntax::Expression& item : list)
        if (Maybe resolved = value(item, inside)) values.push_back(std::move(*resolved));
    if (values.size() != list.size()) return std::nullopt;
    return values;
}

Resolver::Maybe Resolver::node(const syntax::Unary& unary, Span span, const Scope& scope) {
    Maybe inner = value(unary.operand.front(), scope);
    if (!inner) return std::nullopt;
    if (unary.op == "not") return make(Apply{Function::Not, {std::move(*inner)}}, span);
    if (const Number* literal = std::get_if<Number>(&inner->node))
        return make(Number{-literal->value, literal->is_integer}, span);
    return make(Apply{Function::Negate, {std::move(*inner)}}, span);
}

Resolver::Maybe Resolver::node(const syntax::Binary& binary, Span span, const Scope& scope) {
    const std::optional<Function> function = binary_function(binary.op);
    invariant(function.has_value(), "an unknown operator");
    Maybe left = value(binary.operands[0], scope);
    const bool short_circuit = function == Function::And || function == Function::Or;
    Maybe right = short_circuit && left
                      ? value(binary.operands[1], guarded(scope, *left, function == Function::And))
                      : value(binary.operands[1], scope);
    if (!left || !right) return std::nullopt;
    if (function == Function::Power) {
        const std::optional<Number> exponent = constant_value(*right);
        if (!exponent) {
            context_.report(messages::exponent_not_constant(right->span));
            return std::nullopt;
        }
        right = make(*exponent, right->span);
    }
    return make(Apply{*function, {std::move(*left), std::move(*right)}}, span);
}

Resolver::Maybe Resolver::node(const syntax::Conditional& conditional, Span span,
                               const Scope& scope) {
    Maybe condition = value(conditional.parts[0], scope);
    if (!condition) {
        (void)value(conditional.parts[1], scope);
        (void)value(conditional.parts[2], scope);
        return std::nullopt;
    }
    Maybe then = value(conditional.parts[1], guarded(scope, *condition, true));
    Maybe otherwise = value(conditional.parts[2], guarded(scope, *condition, false));
    if (!then || !otherwise) return std::nullopt;
    return make(
        Apply{Function::Select, {std::move(*condition), std::move(*then), std::move(*otherwise)}},
        span);
}

}  // namespace napkin::checking
