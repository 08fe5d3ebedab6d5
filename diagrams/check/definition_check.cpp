// Names inside definitions and monoids, checked whether they are called or not.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <utility>

#include "diagrams/check/constants.h"
#include "diagrams/check/functions.h"
#include "diagrams/check/messages.h"
#include "diagrams/check/resolve.h"
#include "diagrams/nearest.h"
#include "diagrams/overloaded.h"

namespace napkin::checking {

namespace {

bool names(const std::vector<syntax::Name>& list, const std::string& name) {
    return std::any_of(list.begin(), list.end(),
                       [&](const syntax::Name& known) { return known.text == name; });
}

/// How a call may be drawn.
constexpr std::array kGlyphs = {"triangle", "cup", "norm", "box"};

class DefinitionChecker {
public:
    DefinitionChecker(Context& context, const syntax::Definition& definition)
        : context_(context), definition_(definition) {}

    void check(const syntax::Expression& expression) {
        std::visit(overloaded{
                       [](const syntax::Literal&) {},
                       [&](const syntax::Reference& name) { check_name(name.name, true); },
                       [&](const syntax::Access& access) { fail(access.array); },
                       [&](const syntax::Call& call) { check_call(call); },
                       [&](const syntax::Reduction& reduction) { check_reduction(reduction); },
                       [&](const syntax::Unary& unary) { check_all(unary.operand); },
                       [&](const syntax::Binary& binary) { check_all(binary.operands); },
                       [&](const syntax::Conditional& choice) { check_all(choice.parts); },
                   },
                   expression.node);
    }

private:
    void check_all(const std::vector<syntax::Expression>& list) {
        for (const syntax::Expression& expression : list) check(expression);
    }
    void fail(const syntax::Name& name) {
        context_.report(messages::outside_definition(name.span, name.text, definition_.name.text));
    }
    void check_name(const syntax::Name& name, bool value) {
        const bool known =
            names(definition_.axes, name.text) ||
            (value && (names(definition_.parameters, name.text) || name.text == "inf"));
        if (!known) fail(name);
    }

    void check_call(const syntax::Call& call) {
        for (const syntax::Name& axis : call.axes) check_name(axis, false);
        check_all(call.arguments);
        const std::string& name = call.function.text;
        if (context_.operations.contains(name) || is_built_in(name)) return;
        std::vector<std::string> known = built_in_names();
        for (const auto& entry : context_.operations) known.push_back(entry.first);
        if (context_.monoids.contains(name))
            context_.report(messages::no_operand(call.function.span, name));
        else
            context_.report(
                messages::unknown_operation(call.function.span, name, suggestion(name, known)));
    }

    void check_reduction(const syntax::Reduction& reduction) {
        for (const syntax::Name& axis : reduction.over) check_name(axis, false);
        check_all(reduction.operands);
        const std::string& name = reduction.monoid.text;
        const bool selects = is_selection(name) && !reduction.every_prefix;
        if (context_.monoids.contains(name) || selects) return;
        report_unknown(context_, reduction, reduction.monoid.span);
    }

    Context& context_;
    const syntax::Definition& definition_;
};

/// Names that stand for one thing each; reports those that stand twice.
void check_distinct(Context& context, std::initializer_list<const std::vector<syntax::Name>*> all) {
    std::map<std::string, Span> seen;
    for (const auto* list : all)
        for (const syntax::Name& name : *list) {
            const auto [first, fresh] = seen.emplace(name.text, name.span);
            if (!fresh)
                context.report(messages::defined_twice(name.span, name.text, first->second));
        }
}

}  // namespace

void check_definition(Context& context, const syntax::Definition& definition) {
    check_distinct(context, {&definition.axes, &definition.parameters});
    const syntax::Name& glyph = definition.glyph;
    const std::vector<std::string> glyphs(kGlyphs.begin(), kGlyphs.end());
    if (!glyph.text.empty() && std::find(glyphs.begin(), glyphs.end(), glyph.text) == glyphs.end())
        context.report(messages::unknown_glyph(glyph.span, glyph.text,
                                               nearest(glyph.text, glyphs).value_or(""), glyphs));
    DefinitionChecker(context, definition).check(definition.value);
}

std::vector<Expression> resolve_combine(Context& context, const syntax::MonoidDefinition& monoid) {
    check_distinct(context, {&monoid.left, &monoid.right});
    Scope scope;
    scope.definition = monoid.name.text;
    scope.combines = true;
    std::uint32_t slot = 0;
    for (const auto* side : {&monoid.left, &monoid.right})
        for (const syntax::Name& part : *side)
            scope.values.emplace(part.text, make(Operand{slot++}, part.span));
    Resolver resolver(context, monoid.name.text, {}, BoxId{}, monoid.name.span);
    std::vector<Expression> combine;
    for (const syntax::Expression& component : monoid.combine)
        combine.push_back(resolver.value(component, scope).value_or(number(0)));
    return combine;
}

}  // namespace napkin::checking
