#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/json.h"
#include "perfmodel/machine.h"

namespace napkin::cli {
namespace {

Json json_of(const Machine& machine) {
    Json json{{"name", machine.name}, {"title", machine.title}, {"target", machine.target}};
    for (const Level level : machine.levels()) json["levels"].push_back(name_of(level));
    for (const auto& [key, figure] : machine.figures)
        json["figures"][key] = Json{{"value", figure.value},
                                    {"per_clock", figure.per_clock},
                                    {"text", figure.text},
                                    {"source", figure.source}};
    return json;
}

Result<int> list_machines(Context& context) {
    Json json{{"ok", true}};
    std::string text;
    for (const std::string& name : machine_names()) {
        const Result<Machine> machine = load_machine(context.sources, name);
        if (!machine) return machine.error();
        json["machines"].push_back(Json{{"name", name}, {"title", machine->title}});
        text += name + std::string(name.size() < 12 ? 12 - name.size() : 1, ' ') + machine->title +
                "\n";
    }
    print_data(context.arguments.json ? text_of(json) : text);
    return kOk;
}

}  // namespace

Result<int> run_machines(Context& context) {
    if (context.arguments.topic.empty()) return list_machines(context);
    const Result<Machine> machine = load_machine(context.sources, context.arguments.topic);
    if (!machine) return machine.error();
    print_data(context.arguments.json ? text_of(json_of(*machine)) : print(*machine));
    return kOk;
}

}  // namespace napkin::cli
