#include "cli/machines.h"

#include <toml++/toml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/lines.h"
#include "cli/machine_picture.h"
#include "codegen/architecture.h"
#include "codegen/emit.h"
#include "diagrams/graphviz/render_canvas.h"
#include "diagrams/toml_text.h"

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
        const Result<Machine> machine = take_machine(context.sources, name);
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

constexpr const char* kOldestTarget = "sm_80";  ///< of those that have tensor cores

/// A diagnostic of a machine's target, where its text says it.
Diagnostic at_target(Diagnostic why, const SourceMap& sources, std::uint32_t file) {
    const std::string& text = sources.files[file].text;
    const toml::table root = toml::parse(text);
    const toml::node* target = root.get("target");
    invariant(target != nullptr, "a machine of the binary has a target that is not known");
    why.has_place = true;
    why.primary = {toml_place(text, target->source(), file), "this value"};
    return why;
}

/// A machine that was read, whose text is a file of the sources.
Result<Machine> with_target(Machine machine, const SourceMap& sources, std::uint32_t file) {
    if (machine.target.empty()) return machine;
    const Result<Architecture> known = find_architecture(machine.target);
    if (!known) return at_target(known.error().list.front(), sources, file);
    if (std::optional<Diagnostic> too_old = check_target(kOldestTarget, machine.target)) {
        too_old->help = std::string("a machine's target is `") + kOldestTarget + "` or newer";
        return at_target(*std::move(too_old), sources, file);
    }
    // The model knows kernels by their target, as `sm_90a`, not by the architecture that runs them.
    const std::string best = target_names().back();
    if (runs_on(best, *known)) machine.target = best;
    return machine;
}

/// A machine by one of the two ways to load one.
Result<Machine> take(const decltype(load_machine)& load, SourceMap& sources,
                     const std::string& text, const std::string& given_as) {
    const auto file = static_cast<std::uint32_t>(sources.files.size());
    Result<Machine> machine = load(sources, text, given_as);
    if (!machine) return machine;
    return with_target(std::move(machine).value(), sources, file);
}

std::vector<std::string> parts_of(const std::string& text) {
    std::vector<std::string> parts;
    std::istringstream rest(text);
    for (std::string part; std::getline(rest, part, ',');) parts.push_back(part);
    return parts;
}

/// What an override, `key=value`, is of.
std::string key_of(const std::string& figure) {
    const std::size_t begin = std::min(figure.find_first_not_of(' '), figure.size());
    return figure.substr(begin, std::min(figure.find('='), figure.size()) - begin);
}

}  // namespace

std::string with_figures(const std::string& machine, const std::string& figures) {
    const std::vector<std::string> own = parts_of(machine);
    const std::vector<std::string> others = parts_of(figures);
    std::string text = own.front();
    for (std::size_t i = 1; i < own.size(); ++i)
        if (std::none_of(others.begin(), others.end(),
                         [&](const std::string& other) { return key_of(other) == key_of(own[i]); }))
            text += "," + own[i];
    return text + "," + figures;
}

Result<Machine> take_machine(SourceMap& sources, const std::string& text,
                             const std::string& given_as) {
    return take(load_machine, sources, text, given_as);
}

Result<Machine> take_timed_machine(SourceMap& sources, const std::string& text,
                                   const std::string& given_as) {
    return take(load_timed_machine, sources, text, given_as);
}

Result<int> run_machines(Context& context) {
    if (context.arguments.topic.empty()) return list_machines(context);
    const Result<Machine> machine = take_machine(context.sources, context.arguments.topic, "NAME");
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
