#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/lines.h"
#include "cli/machine_picture.h"
#include "diagrams/graphviz/render_canvas.h"
#include "perfmodel/machine.h"

namespace napkin::cli {
namespace {

Json json_of(const Machine& machine) {
    Json json{
        {"ok", true}, {"name", machine.name}, {"title", machine.title}, {"target", machine.target}};
    for (const Level level : machine.levels()) json["levels"].push_back(name_of(level));
    for (const auto& [key, figure] : machine.figures)
        json["figures"][key] = Json{{"value", figure.value},
                                    {"per_clock", figure.per_clock},
                                    {"text", figure.text},
                                    {"from", name_of(figure.origin)},
                                    {"source", figure.source}};
    return json;
}

/// Side by side into a picture.
Result<int> draw_machines(const std::vector<Machine>& machines, const std::string& path) {
    const Result<drawing::Format> format = drawing::format_of(path);
    if (!format) return format.error();
    std::vector<drawing::Hierarchy> hierarchies;
    hierarchies.reserve(machines.size());
    for (const Machine& machine : machines) hierarchies.push_back(hierarchy_of(machine));
    const Result<std::string> bytes =
        drawing::render_canvas(drawing::draw_hierarchies(hierarchies), *format);
    if (!bytes) return bytes.error();
    if (const auto failure = write_data(path, *bytes)) return Diagnostics{{*failure}};
    return kOk;
}

Result<int> list_machines(Context& context) {
    Json json{{"ok", true}};
    std::string text;
    std::vector<Machine> machines;
    for (const std::string& name : machine_names()) {
        const Result<Machine> machine = load_machine(context.sources, name);
        if (!machine) return machine.error();
        json["machines"].push_back(Json{{"name", name}, {"title", machine->title}});
        text += name + std::string(name.size() < 12 ? 12 - name.size() : 1, ' ') + machine->title +
                "\n";
        machines.push_back(*machine);
    }
    if (!context.arguments.output.empty()) return draw_machines(machines, context.arguments.output);
    print_data(context.arguments.json ? text_of(json) : text);
    return kOk;
}

}  // namespace

Result<int> run_machines(Context& context) {
    if (context.arguments.topic.empty()) return list_machines(context);
    const Result<Machine> machine = load_machine(context.sources, context.arguments.topic, "NAME");
    if (!machine) return machine.error();
    if (!context.arguments.output.empty())
        return draw_machines({*machine}, context.arguments.output);
    if (context.arguments.json)
        print_data(text_of(json_of(*machine)));
    else
        print_lines(print(*machine));
    return kOk;
}

}  // namespace napkin::cli
