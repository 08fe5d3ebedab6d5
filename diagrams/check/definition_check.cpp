// Names inside definitions and monoids, checked whether they are called or not.
#include <algorithm>
#include <array>
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
        if (context_.monoids.contains(name) || is_selection(name)) return;
        context_.report(messages::unknown_reduction(reduction.monoid.span, name,
                                                    meant_reduction(context_, reduction)));
    }

    Context& context_;
    const syntax::Definition& definition_;
};

/// Puts operands in place of the names of a monoid's two elements.
class CombineResolver {
public:
    CombineResolver(Context& context, const syntax::MonoidDefinition& monoid)
        : context_(context), monoid_(monoid) {}

    Expression resolve(const syntax::Expression& source) {
        if (const std::optional<Number> constant = constant_value(source))
            return make(*constant, source.span);
        if (const auto* name = std::get_if<syntax::Reference>(&source.node))
            return operand(name->name, source.span);
        if (const auto* unary = std::get_if<syntax::Unary>(&source.node))
            return make(Apply{unary->op == "not" ? Function::Not : Function::Negate,
                              {resolve(unary->operand.front())}},
                        source.span);
        if (const auto* binary = std::get_if<syntax::Binary>(&source.node))
            return make(Apply{*binary_function(binary->op),
                              {resolve(binary->operands[0]), resolve(binary->operands[1])}},
                        source.span);
        if (const auto* choice = std::get_if<syntax::Conditional>(&source.node))
            return make(Apply{Function::Select,
                              {resolve(choice->parts[0]), resolve(choice->parts[1]),
                               resolve(choice->parts[2])}},
                        source.span);
        if (const auto* call = std::get_if<syntax::Call>(&source.node))
            return resolve_call(*call, source.span);
        fail({"this", source.span});
        return number(0);
    }

private:
    void fail(const syntax::Name& name) {
        context_.report(messages::outside_definition(name.span, name.text, monoid_.name.text));
    }

    Expression operand(const syntax::Name& name, Span span) {
        std::uint32_t slot = 0;
        for (const auto* side : {&monoid_.left, &monoid_.right})
            for (const syntax::Name& known : *side) {
                if (known.text == name.text) return make(Operand{slot}, span);
                ++slot;
            }
        fail(name);
        return number(0);
    }

    Expression resolve_call(const syntax::Call& call, Span span) {
        const std::optional<KnownFunction> known = known_function(call.function.text);
        if (!known) {
            context_.report(
                messages::unknown_operation(call.function.span, call.function.text,
                                            suggestion(call.function.text, built_in_names())));
            return number(0);
        }
        if (call.arguments.size() != known->arguments) {
            context_.report(
                messages::wrong_argument_count(span, call.function.text, call.arguments.size(),
                                               std::to_string(known->arguments) + " arguments"));
            return number(0);
        }
        std::vector<Expression> arguments;
        for (const syntax::Expression& argument : call.arguments)
            arguments.push_back(resolve(argument));
        return make(Apply{known->function, std::move(arguments)}, span);
    }

    Context& context_;
    const syntax::MonoidDefinition& monoid_;
};

}  // namespace

void check_definition(Context& context, const syntax::Definition& definition) {
    std::set<std::string> seen;
    for (const auto* list : {&definition.axes, &definition.parameters})
        for (const syntax::Name& name : *list)
            if (!seen.insert(name.text).second)
                context.report(messages::repeated_axis(name.span, name.text, definition.name.text));
    const syntax::Name& glyph = definition.glyph;
    const std::vector<std::string> glyphs(kGlyphs.begin(), kGlyphs.end());
    if (!glyph.text.empty() && std::find(glyphs.begin(), glyphs.end(), glyph.text) == glyphs.end())
        context.report(messages::unknown_glyph(glyph.span, glyph.text,
                                               nearest(glyph.text, glyphs).value_or(""), glyphs));
    DefinitionChecker(context, definition).check(definition.value);
}

Expression resolve_combine(Context& context, const syntax::MonoidDefinition& monoid,
                           const syntax::Expression& component) {
    return CombineResolver(context, monoid).resolve(component);
}

}  // namespace napkin::checking
