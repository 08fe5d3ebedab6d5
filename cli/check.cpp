#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/json.h"
#include "cli/session.h"

namespace napkin::cli {
namespace {

std::string shape_of(const Diagram& diagram, const Array& array) {
    std::string text = array.name + "[";
    for (std::size_t i = 0; i < array.axes.size(); ++i)
        text += (i > 0 ? ", " : "") + diagram[array.axes[i]].name;
    return text + "] : " + std::string(name_of(array.type));
}

Json json_of(const Diagram& diagram, const Array& array) {
    Json axes = Json::array();
    for (const AxisId axis : array.axes) axes.push_back(diagram[axis].name);
    return Json{{"name", array.name}, {"axes", axes}, {"type", name_of(array.type)}};
}

/// In the fewest digits that are read as the same number.
std::string value_of(const Array& parameter) {
    return is_floating(parameter.type) ? fmt::format("{}", static_cast<float>(*parameter.value))
                                       : value_text(*parameter.value);
}

Json json_of(const Array& parameter) {
    Json json{{"name", parameter.name}, {"type", name_of(parameter.type)}};
    if (is_floating(parameter.type))
        json["value"] = std::strtod(value_of(parameter).c_str(), nullptr);
    else
        json["value"] = static_cast<std::int64_t>(*parameter.value);
    return json;
}

Json json_of(const Checked& checked, const SourceMap& sources) {
    const Diagram& diagram = checked.diagram;
    Json json{{"ok", true}, {"diagram", diagram.name}};
    for (const Axis& axis : diagram.axes) json["axes"][axis.name] = axis.extent;
    json["dynamic"] = Json::array();
    for (const Axis& axis : diagram.axes)
        if (axis.dynamic) json["dynamic"].push_back(axis.name);
    json["parameters"] = Json::array();
    json["inputs"] = Json::array();
    json["outputs"] = Json::array();
    for (const Array& array : diagram.arrays) {
        if (array.role == ArrayRole::Parameter) json["parameters"].push_back(json_of(array));
        if (array.role == ArrayRole::Input) json["inputs"].push_back(json_of(diagram, array));
        if (array.role == ArrayRole::Output) json["outputs"].push_back(json_of(diagram, array));
    }
    json["warnings"] = to_json(checked.warnings, sources);
    return json;
}

std::string text_of(const Checked& checked) {
    const Diagram& diagram = checked.diagram;
    std::string text = diagram.name + ": well formed\n  axes    ";
    for (const Axis& axis : diagram.axes)
        text += " " + axis.name + " = " + std::to_string(axis.extent) +
                (axis.dynamic ? " or others" : "");
    for (const Array& array : diagram.arrays) {
        if (array.role == ArrayRole::Parameter)
            text += "\n  param    " + array.name + " : " + std::string(name_of(array.type)) +
                    " = " + value_of(array);
        if (array.role == ArrayRole::Input) text += "\n  input    " + shape_of(diagram, array);
        if (array.role == ArrayRole::Output) text += "\n  output   " + shape_of(diagram, array);
    }
    return text + "\n";
}

}  // namespace

Result<int> run_check(Context& context) {
    const Result<Settings> settings = settings_of_sets(context.arguments.sets);
    if (!settings) return settings.error();
    const Result<Checked> checked = load_checked(context, *settings);
    if (!checked) return checked.error();
    print_diagnostics(checked->warnings, context.sources);
    print_data(context.arguments.json ? text_of(json_of(*checked, context.sources))
                                      : text_of(*checked));
    return kOk;
}

}  // namespace napkin::cli
