// Calls: functions, conversions, sizes, and named operations replaced by their texts.
#include <algorithm>
#include <utility>

#include "diagrams/check/functions.h"
#include "diagrams/check/messages.h"
#include "diagrams/check/resolve.h"
#include "diagrams/messages.h"

namespace napkin::checking {

namespace {

constexpr std::size_t kMostCalls = 60;

/// The height of an expression; what is bound to parameters must stay shallow, since definitions
/// stack on top of each other.
std::size_t height_of(const Expression& expression) {
    std::size_t inside = 0;
    const auto look = [&](const std::vector<Expression>& parts) {
        for (const Expression& part : parts) inside = std::max(inside, height_of(part));
    };
    if (const Read* element = std::get_if<Read>(&expression.node)) look(element->index);
    if (const Apply* call = std::get_if<Apply>(&expression.node)) look(call->arguments);
    if (const Convert* convert = std::get_if<Convert>(&expression.node)) look(convert->argument);
    return inside + 1;
}
constexpr std::size_t kMostHeight = 1000;

std::vector<std::string> callable_names(const Context& context) {
    std::vector<std::string> names = built_in_names();
    for (const auto& entry : context.operations) names.push_back(entry.first);
    return names;
}

/// How a definition is called: `layernorm[d](u, gain, bias, eps)`.
std::string signature_of(const syntax::Definition& definition) {
    const auto listed = [](const std::vector<syntax::Name>& names) {
        std::string text;
        for (const syntax::Name& name : names) text += (text.empty() ? "" : ", ") + name.text;
        return text;
    };
    const std::string axes = listed(definition.axes);
    return definition.name.text + (axes.empty() ? "" : "[" + axes + "]") + "(" +
           listed(definition.parameters) + ")";
}

}  // namespace

Resolver::Maybe Resolver::node(const syntax::Call& call, Span span, const Scope& scope) {
    const std::string& name = call.function.text;
    const auto operation = context_.operations.find(name);
    const bool has_axes =
        !call.axes.empty() || name == "topk" ||
        (operation != context_.operations.end() && !operation->second.definition->axes.empty());
    if (scope.combines && (has_axes || element_type_named(name))) {
        context_.report(has_axes ? messages::not_elementwise(span, name)
                                 : messages::rounds_in_monoid(span, name));
        return std::nullopt;
    }
    if (operation != context_.operations.end()) {
        const std::optional<Scope> inside = enter(call, operation->second, span, scope);
        if (!inside) return std::nullopt;
        const Maybe made = value(operation->second.definition->value, *inside);
        if (made && !scope.place) spell(call, *inside, *made);
        return made;
    }
    if (name == "topk") {
        context_.report(messages::whole_side_only(span, name));
        return std::nullopt;
    }
    if (call.has_axes && (known_function(name) || element_type_named(name) || name == "size")) {
        std::string form = name + "(...)";
        if (context_.monoids.contains(name)) form = name + "(" + call.axes.front().text + ") ...";
        context_.report(messages::wrong_axis_count(span, name, call.axes.size(), 0, form));
        return std::nullopt;
    }
    if (name == "size") return size_call(call, span, scope);
    return function_call(call, span, scope);
}

/// Keeps what a call became, so that it can be shown as it was written.
void Resolver::spell(const syntax::Call& call, const Scope& inside, const Expression& value) {
    if (inside.combines || !std::holds_alternative<Apply>(value.node)) return;
    const auto& operation = context_.operations.at(call.function.text);
    NamedCall spelled{call.function.text, {}, value, operation.library};
    for (const syntax::Name& parameter : operation.definition->parameters)
        spelled.arguments.push_back(inside.values.at(parameter.text));
    context_.diagram.spellings.calls.push_back(std::move(spelled));
}

Resolver::Maybe Resolver::function_call(const syntax::Call& call, Span span, const Scope& scope) {
    const std::string& name = call.function.text;
    const std::optional<KnownFunction> known = known_function(name);
    const std::optional<ElementType> type = element_type_named(name);
    if (!known && !type) {
        const Span place = placed(call.function.span, scope);
        if (context_.monoids.contains(name) || is_selection(name))
            context_.report(messages::no_operand(place, name));
        else
            context_.report(messages::unknown_operation(
                place, name, suggestion(name, callable_names(context_))));
        return std::nullopt;
    }
    std::optional<std::vector<Expression>> values = arguments(call.arguments, scope);
    const std::size_t given = call.arguments.size();
    const std::size_t wanted = known ? known->arguments : 1;
    const bool fits = given == wanted || (known && known->more && given > wanted);
    if (!fits) {
        std::string count = std::to_string(wanted) + (wanted == 1 ? " argument" : " arguments");
        if (known && known->more) count += " or more";
        context_.report(messages::wrong_argument_count(span, name, given, count));
        return std::nullopt;
    }
    if (!values) return std::nullopt;
    if (type) return make(Convert{*type, std::move(*values)}, span);
    Expression result = std::move(values->front());
    if (values->size() == 1) return make(Apply{known->function, {std::move(result)}}, span);
    for (std::size_t i = 1; i < values->size(); ++i)
        result = make(Apply{known->function, {std::move(result), std::move((*values)[i])}}, span);
    return result;
}

/// `size(x)`; inside a definition the axis may stand for several, whose sizes multiply.
Resolver::Maybe Resolver::size_call(const syntax::Call& call, Span span, const Scope& scope) {
    const syntax::Reference* name = call.arguments.size() == 1
                                        ? std::get_if<syntax::Reference>(&call.arguments[0].node)
                                        : nullptr;
    if (name == nullptr && call.arguments.size() == 1) {
        context_.report(messages::not_an_axis(placed(call.arguments[0].span, scope), "in `size`"));
        return std::nullopt;
    }
    if (name == nullptr) {
        context_.report(
            messages::wrong_argument_count(span, "size", call.arguments.size(), "1 axis"));
        return std::nullopt;
    }
    const std::optional<std::vector<AxisId>> axes = axes_named(name->name, scope);
    if (!axes) return std::nullopt;
    Expression product = make(SizeOf{axes->front()}, span);
    for (std::size_t i = 1; i < axes->size(); ++i)
        product = make(Apply{Function::Multiply, {product, make(SizeOf{(*axes)[i]}, span)}}, span);
    return product;
}

/// The axes that a name stands for; reports one that is unknown.
std::optional<std::vector<AxisId>> Resolver::axes_named(const syntax::Name& name,
                                                        const Scope& scope) {
    if (const auto bound = scope.axes.find(name.text); bound != scope.axes.end())
        return bound->second.axes;
    if (!scope.definition.empty()) {
        context_.report(messages::outside_definition(name.span, name.text, scope.definition));
        return std::nullopt;
    }
    return std::vector<AxisId>{context_.find_axis(name)};
}

/// The scope of a text that is put in place of `name`: what holds around it, but none of its names.
std::optional<Scope> Resolver::replacing(const std::string& name, Span span, const Scope& scope) {
    const bool recursive =
        std::find(scope.calls.begin(), scope.calls.end(), name) != scope.calls.end();
    if (recursive || scope.calls.size() >= kMostCalls) {
        context_.report(messages::recursive_definition(span, name));
        return std::nullopt;
    }
    Scope inside;
    inside.calls = scope.calls;
    inside.calls.push_back(name);
    inside.guards = scope.guards;
    inside.place = scope.place;
    inside.combines = scope.combines;
    return inside;
}

std::optional<Scope> Resolver::enter(const syntax::Call& call, const Operation& operation,
                                     Span span, const Scope& scope) {
    const syntax::Definition& definition = *operation.definition;
    const std::string& name = definition.name.text;
    context_.used_operations.insert(name);
    std::optional<Scope> inside = replacing(name, span, scope);
    if (!inside) return std::nullopt;
    inside->definition = name;
    if (operation.library && !inside->place) inside->place = span;
    const bool fits = bind_axes(*inside, call, definition, span, scope);
    std::optional<std::vector<Expression>> values = arguments(call.arguments, scope);
    const std::size_t count = definition.parameters.size();
    if (call.arguments.size() != count) {
        context_.report(messages::wrong_argument_count(
            span, name, call.arguments.size(),
            std::to_string(count) + (count == 1 ? " argument" : " arguments"),
            signature_of(definition)));
        return std::nullopt;
    }
    if (!fits || !values) return std::nullopt;
    for (std::size_t i = 0; i < values->size(); ++i) {
        if (height_of((*values)[i]) > kMostHeight) {
            context_.report(messages::too_large(line_, kMostHeight));
            return std::nullopt;
        }
        inside->values[definition.parameters[i].text] = std::move((*values)[i]);
    }
    return inside;
}

/// Binds a definition's bracket axes to the call's; one axis may stand for several.
bool Resolver::bind_axes(Scope& inside, const syntax::Call& call,
                         const syntax::Definition& definition, Span span, const Scope& scope) {
    const std::string& name = definition.name.text;
    const std::size_t wanted = definition.axes.size();
    if (call.axes.size() != wanted && (wanted != 1 || call.axes.empty())) {
        context_.report(messages::wrong_axis_count(span, name, call.axes.size(), wanted,
                                                   name + (wanted == 0 ? "(...)" : "[axis](...)")));
        return false;
    }
    bool good = true;
    std::set<AxisId> all;
    for (std::size_t i = 0; i < call.axes.size(); ++i) {
        const std::optional<std::vector<AxisId>> axes = axes_named(call.axes[i], scope);
        good = good && axes.has_value();
        AxisBinding& binding = inside.axes[definition.axes[std::min(i, wanted - 1)].text];
        for (AxisId axis : axes.value_or(std::vector<AxisId>())) {
            binding.axes.push_back(axis);
            if (all.insert(axis).second) continue;
            good = false;
            context_.report(messages::repeated_axis(placed(call.axes[i].span, scope),
                                                    context_.axis(axis).name, name));
        }
    }
    return good;
}

Resolver::Maybe Resolver::let_value(const syntax::LetLine& let,
                                    const std::vector<syntax::Expression>& index, Span span,
                                    const Scope& scope) {
    const std::optional<Scope> inside = enter_let(let, index, span, scope);
    return inside ? value(let.value, *inside) : std::nullopt;
}

std::optional<Scope> Resolver::enter_let(const syntax::LetLine& let,
                                         const std::vector<syntax::Expression>& index, Span span,
                                         const Scope& scope) {
    const std::string& name = let.target.name.text;
    context_.used_lets.insert(name);
    std::optional<Scope> inside = replacing(name, span, scope);
    if (!inside) return std::nullopt;
    std::vector<std::string> names;
    for (const syntax::Name& axis : let.target.axes) names.push_back(axis.text);
    if (index.size() != names.size()) {
        context_.report(messages::wrong_index_count(span, name, index.size(), names));
        return std::nullopt;
    }
    std::optional<std::vector<Expression>> values = arguments(index, scope);
    if (!values) return std::nullopt;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const AxisId axis = context_.find_axis(let.target.axes[i]);
        inside->axes[names[i]] = {{axis}, std::move((*values)[i])};
    }
    return inside;
}

}  // namespace napkin::checking
