#include "derive/rules/relative.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "derive/rewriting/simplify.h"
#include "derive/rewriting/statements.h"
#include "derive/rewriting/unify.h"

namespace napkin::rules {

std::optional<Exponent> exponent_in(const Diagram& diagram, const Expression& expression) {
    if (const Read* element = std::get_if<Read>(&expression.node)) {
        const std::optional<Expression> inside = opened_map(diagram, *element);
        return inside ? exponent_in(diagram, *inside) : std::nullopt;
    }
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return std::nullopt;
    const std::vector<Expression>& args = call->arguments;
    switch (call->function) {
    case Function::Exp: return Exponent{args[0], args[0]};
    case Function::Negate: return exponent_in(diagram, args[0]);
    case Function::Multiply:
    case Function::Divide: {
        const std::optional<Exponent> left = exponent_in(diagram, args[0]);
        const std::optional<Exponent> right = exponent_in(diagram, args[1]);
        if (left && right) return std::nullopt;
        if (right && call->function == Function::Divide) return std::nullopt;
        return left ? left : right;
    }
    case Function::Select: {
        if (!is_literal(args[2], 0)) return std::nullopt;
        std::optional<Exponent> inside = exponent_in(diagram, args[1]);
        if (inside)
            inside->masked =
                apply(Function::Select, {args[0], std::move(inside->masked),
                                         number(-std::numeric_limits<double>::infinity())});
        return inside;
    }
    default: return std::nullopt;
    }
}

Relative::Relative(Draft& draft, ArrayId gauge, Expression exponent)
    : draft_(draft),
      gauge_(gauge),
      exponent_(std::move(exponent)),
      gauge_axes_(draft.diagram[gauge].axes) {}

Relative::Scaled Relative::as_it_was(const Expression& expression) {
    return {expression, expression, 0, {}};
}

Relative::Scaled Relative::scale(const Expression& expression) {
    if (const Read* element = std::get_if<Read>(&expression.node))
        return scale_read(expression, *element);
    if (const Apply* call = std::get_if<Apply>(&expression.node))
        return scale_call(expression, *call);
    return as_it_was(expression);
}

Relative::Scaled Relative::scale_read(const Expression& expression, const Read& element) {
    const auto twin = twins_.find(element.array);
    if (twin == twins_.end()) return as_it_was(expression);
    Binding binding;
    const std::vector<AxisId>& axes = draft_.diagram[element.array].axes;
    for (std::size_t k = 0; k < axes.size(); ++k) binding[axes[k]] = element.index[k];
    std::vector<Expression> index;
    for (const Expression& each : twin->second.index) index.push_back(with_axes(each, binding));
    return {read(twin->second.array, element.index), expression, twin->second.degree,
            std::move(index)};
}

/// A function that carries no power of exp(g): parts that have one are taken as they were.
Relative::Scaled Relative::settled(const Expression& expression, const Apply& call,
                                   const std::vector<Scaled>& parts) const {
    std::vector<Expression> arguments;
    for (const Scaled& part : parts)
        arguments.push_back(part.degree == 0 ? part.scaled : part.original);
    return {apply(call.function, std::move(arguments)), expression, 0, {}};
}

/// A function that keeps a common positive factor of its arguments from `first` on.
Relative::Scaled Relative::alike(const Expression& expression, const Apply& call,
                                 std::vector<Scaled> parts, std::size_t first) const {
    const Scaled* like = nullptr;
    for (std::size_t i = first; i < parts.size(); ++i) {
        if (is_literal(parts[i].original, 0)) continue;  // 0 has every power
        if (like == nullptr) like = &parts[i];
        if (parts[i].degree != like->degree || parts[i].index != like->index)
            return settled(expression, call, parts);
    }
    if (like == nullptr || like->degree == 0) return settled(expression, call, parts);
    Scaled result{{}, expression, like->degree, like->index};
    std::vector<Expression> arguments;
    for (std::size_t i = 0; i < parts.size(); ++i)
        arguments.push_back(i >= first || parts[i].degree == 0 ? parts[i].scaled
                                                               : parts[i].original);
    result.scaled = apply(call.function, std::move(arguments));
    return result;
}

Relative::Scaled Relative::power(const Expression& expression, const Apply& call, Scaled base,
                                 double exponent) const {
    Apply changed = call;
    changed.arguments.front() = std::move(base.scaled);
    Expression scaled;
    scaled.node = std::move(changed);
    return {std::move(scaled), expression, base.degree * exponent, std::move(base.index)};
}

Relative::Scaled Relative::scale_exponential(const Expression& expression, const Apply& call) {
    Binding binding;
    if (!matches(exponent_, call.arguments.front(), binding))
        return settled(expression, call, {scale(call.arguments.front())});
    std::vector<Expression> index;
    for (AxisId axis : gauge_axes_) {
        const auto bound = binding.find(axis);
        if (bound == binding.end()) return as_it_was(expression);
        index.push_back(bound->second);
    }
    Expression difference =
        apply(Function::Subtract, {call.arguments.front(), read(gauge_, index)});
    return {apply(Function::Exp, {std::move(difference)}), expression, 1, std::move(index)};
}

Relative::Scaled Relative::scale_call(const Expression& expression, const Apply& call) {
    if (call.function == Function::Exp) return scale_exponential(expression, call);
    std::vector<Scaled> parts;
    for (const Expression& argument : call.arguments) parts.push_back(scale(argument));
    switch (call.function) {
    case Function::Multiply:
    case Function::Divide: {
        const bool both = parts[0].degree != 0 && parts[1].degree != 0;
        if (both && parts[0].index != parts[1].index) return settled(expression, call, parts);
        const double sign = call.function == Function::Multiply ? 1 : -1;
        const std::vector<Expression>& index = parts[parts[0].degree != 0 ? 0 : 1].index;
        return {apply(call.function, {parts[0].scaled, parts[1].scaled}), expression,
                parts[0].degree + sign * parts[1].degree, index};
    }
    case Function::Negate:
    case Function::Abs:
    case Function::Add:
    case Function::Subtract:
    case Function::Min:
    case Function::Max: return alike(expression, call, std::move(parts), 0);
    case Function::Select: return alike(expression, call, std::move(parts), 1);
    case Function::Sqrt: return power(expression, call, std::move(parts[0]), 0.5);
    case Function::Rsqrt: return power(expression, call, std::move(parts[0]), -0.5);
    case Function::Power:
        if (const double* exponent = literal(call.arguments[1]))
            return power(expression, call, std::move(parts[0]), *exponent);
        return settled(expression, call, parts);
    case Function::Log: {
        if (parts[0].degree == 0) return settled(expression, call, parts);
        Expression size = read(gauge_, parts[0].index);
        if (parts[0].degree != 1)
            size = apply(Function::Multiply, {number(parts[0].degree), std::move(size)});
        return {apply(Function::Add,
                      {std::move(size), apply(Function::Log, {std::move(parts[0].scaled)})}),
                expression,
                0,
                {}};
    }
    default: return settled(expression, call, parts);
    }
}

/// The statement for the scaled values, beside the one for the original.
void Relative::add_twin(StatementId id, std::vector<Scaled> values) {
    Statement twin = draft_.diagram[id];
    Array array = draft_.diagram[twin.targets.front()];
    if (array.role == ArrayRole::Output) array.role = ArrayRole::Intermediate;
    const ArrayId target = draft_.add_array(std::move(array));
    twins_[twin.targets.front()] = {target, values.front().degree, values.front().index};
    twin.targets = {target};
    if (Map* map = std::get_if<Map>(&twin.body)) map->value = values.front().scaled;
    if (Fold* fold = std::get_if<Fold>(&twin.body)) fold->values = {values.front().scaled};
    const StatementId made = draft_.add(std::move(twin), draft_.home(id), id);
    draft_.place(id, made);
    const std::vector<ArrayId> inputs = inputs_of(draft_.diagram[made]);
    if (!first_use_ && std::find(inputs.begin(), inputs.end(), gauge_) != inputs.end())
        first_use_ = made;
}

/// Whether the size cancels in the statement's value.
bool Relative::rewrite_statement(StatementId id) {
    const Statement statement = draft_.diagram[id];
    if (std::holds_alternative<Opaque>(statement.body)) return false;
    const bool rounds = draft_.diagram[statement.targets.front()].rounds;
    const Fold* fold = std::get_if<Fold>(&statement.body);
    const bool carries = std::holds_alternative<Map>(statement.body) ||
                         (fold != nullptr && fold->values.size() == 1 && fold->seed.empty() &&
                          (fold->monoid == kSum || fold->monoid == kMax || fold->monoid == kMin));
    std::vector<Scaled> values;
    for (const Expression* expression : expressions_of(statement))
        values.push_back(scale(*expression));
    if (carries && !rounds && values.front().degree != 0) {
        bool outside = true;
        for (const Expression& index : values.front().index)
            for (AxisId axis : axes_used(index))
                outside =
                    outside && (fold == nullptr || std::find(fold->over.begin(), fold->over.end(),
                                                             axis) == fold->over.end());
        if (outside) {
            add_twin(id, std::move(values));
            return false;
        }
    }
    bool changed = false;
    std::size_t next = 0;
    for_each_expression(draft_.diagram.statements[id.index()], [&](Expression& expression) {
        const Scaled& value = values[next++];
        if (value.degree != 0 || value.scaled == expression) return;
        expression = value.scaled;
        changed = true;
    });
    const std::vector<ArrayId> inputs = inputs_of(draft_.diagram[id]);
    if (!first_use_ && std::find(inputs.begin(), inputs.end(), gauge_) != inputs.end())
        first_use_ = id;
    return changed;
}

std::vector<std::string> Relative::rewrite_all() {
    std::vector<std::string> cancelled;
    const std::size_t count = draft_.diagram.statements.size();
    for (std::uint32_t i = 0; i < count; ++i)
        if (rewrite_statement(StatementId{i}))
            cancelled.push_back(
                "`" + draft_.diagram[draft_.diagram.statements[i].targets.front()].name + "`");
    return cancelled;
}

}  // namespace napkin::rules
