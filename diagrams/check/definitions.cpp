// Names from outside the diagram: named operations (the library's, then the user's, which may
// replace them) and monoids.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "diagrams/check/constants.h"
#include "diagrams/check/context.h"
#include "diagrams/check/functions.h"
#include "diagrams/check/messages.h"
#include "diagrams/check/resolve.h"

namespace napkin::checking {

namespace {

bool is_reserved_operation(const Context& context, const std::string& name) {
    return is_built_in(name) || context.monoids.contains(name);
}

/// Monoids whose combinations are still to be resolved, once all operations are known.
using Pending = std::vector<std::pair<MonoidId, const syntax::MonoidDefinition*>>;

void add_monoid(Context& context, const syntax::MonoidDefinition& source, Pending& pending) {
    const std::string& name = source.name.text;
    if (is_reserved_operation(context, name)) {
        context.report(messages::built_in(source.name.span, name));
        return;
    }
    Monoid monoid;
    monoid.name = name;
    monoid.commutative = source.commutative;
    monoid.span = source.name.span;
    for (const syntax::Expression& identity : source.identity) {
        const std::optional<Number> value = constant_value(identity);
        if (!value) context.report(messages::not_constant(identity.span, "an identity"));
        monoid.identity.push_back(make(value.value_or(Number{}), identity.span));
    }
    const MonoidId id{static_cast<std::uint32_t>(context.diagram.monoids.size())};
    context.monoids[name] = id;
    pending.emplace_back(id, &source);
    context.diagram.monoids.push_back(std::move(monoid));
}

void add_operation(Context& context, const syntax::Definition& source, bool library,
                   std::map<std::string, Span>& user) {
    const std::string& name = source.name.text;
    if (!library) {
        if (is_reserved_operation(context, name)) {
            context.report(messages::built_in(source.name.span, name));
            return;
        }
        const auto [place, fresh] = user.emplace(name, source.name.span);
        if (!fresh) {
            context.report(messages::defined_twice(source.name.span, name, place->second));
            return;
        }
    }
    context.operations[name] = {&source, library};
}

}  // namespace

void collect_definitions(Context& context, const syntax::File& library) {
    context.diagram.monoids = builtin_monoids();
    for (std::uint32_t i = 0; i < context.diagram.monoids.size(); ++i)
        context.monoids[context.diagram.monoids[i].name] = MonoidId{i};
    std::map<std::string, Span> user;
    Pending pending;
    for (const auto& item : library.definitions)
        if (const auto* definition = std::get_if<syntax::Definition>(&item))
            add_operation(context, *definition, true, user);
    for (const auto& item : context.file.definitions) {
        if (const auto* monoid = std::get_if<syntax::MonoidDefinition>(&item))
            add_monoid(context, *monoid, pending);
        if (const auto* definition = std::get_if<syntax::Definition>(&item))
            add_operation(context, *definition, false, user);
    }
    for (const auto& [id, source] : pending)
        context.diagram.monoids[id.index()].combine = resolve_combine(context, *source);
    for (const auto& item : context.file.definitions)
        if (const auto* definition = std::get_if<syntax::Definition>(&item))
            check_definition(context, *definition);
}

}  // namespace napkin::checking
