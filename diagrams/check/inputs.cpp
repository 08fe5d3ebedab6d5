// Inputs, parameters and lets: names that statements may use from the start.
#include <utility>

#include "diagrams/check/constants.h"
#include "diagrams/check/context.h"
#include "diagrams/check/messages.h"

namespace napkin::checking {

namespace {

void declare_input(Context& context, const syntax::Target& target) {
    if (!context.claim(target.name)) return;
    Array array = context.declare(target, ArrayRole::Input);
    array.rounds = true;
    const std::string name = array.name;
    context.arrays[name] = context.add_array(std::move(array));
}

void declare_parameter(Context& context, const syntax::ParamLine& line) {
    if (!context.claim(line.param.name)) return;
    Array array = context.declare(line.param, ArrayRole::Parameter);
    const std::optional<Number> value = constant_value(line.value);
    if (!value) context.report(messages::not_constant(line.value.span, "the value of a parameter"));
    array.rounds = true;
    if (!array.axes.empty()) context.report(messages::parameter_with_axes(array.span, array.name));
    array.axes.clear();
    array.value = round_to(array.type, value.value_or(Number{}).value);
    if (value && !is_floating(array.type) && *array.value != value->value)
        context.report(messages::value_of_other_type(
            line.value.span, array.name, name_of(array.type),
            napkin::print(context.diagram, number(value->value, value->is_integer))));
    const std::string name = array.name;
    context.arrays[name] = context.add_array(std::move(array));
}

void declare_let(Context& context, const syntax::LetLine& line) {
    if (!context.claim(line.target.name)) return;
    if (line.target.type)
        context.report(messages::let_with_type(line.target.type_span, line.target.name.text));
    context.lets[line.target.name.text] = &line;
}

}  // namespace

void declare_inputs(Context& context) {
    for (const syntax::Line& line : context.file.lines) {
        context.unknown_axes.clear();
        if (const auto* inputs = std::get_if<syntax::InputLine>(&line.body))
            for (const syntax::Target& target : inputs->arrays) declare_input(context, target);
        if (const auto* parameter = std::get_if<syntax::ParamLine>(&line.body))
            declare_parameter(context, *parameter);
        if (const auto* let = std::get_if<syntax::LetLine>(&line.body)) declare_let(context, *let);
    }
}

}  // namespace napkin::checking
