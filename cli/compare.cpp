// compare: figures of machines side by side.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/json.h"
#include "cli/lines.h"
#include "cli/machines.h"
#include "cli/numbers.h"

namespace napkin::cli {
namespace {

/// A figure as it is written, and a mark where nobody measured or published it.
std::string cell(const Machine& machine, std::string_view key) {
    const auto found = machine.figures.find(std::string(key));
    if (found == machine.figures.end()) return "-";
    return found->second.text + (found->second.origin == Origin::Assumed ? " ~" : "");
}

std::string table(std::span<const Machine> machines) {
    std::vector<std::vector<std::string>> rows = {{""}};
    for (const Machine& machine : machines) rows.front().push_back(machine.name);
    for (const FigureKind& kind : all_figures()) {
        std::vector<std::string> row = {std::string(kind.key)};
        for (const Machine& machine : machines) row.push_back(cell(machine, kind.key));
        const auto is_none = [](const std::string& text) { return text == "-"; };
        if (!std::all_of(row.begin() + 1, row.end(), is_none)) rows.push_back(std::move(row));
    }
    std::string text;
    for (const std::vector<std::string>& row : rows) {
        std::string line;
        for (std::size_t at = 0; at < row.size(); ++at) {
            std::size_t width = 0;
            for (const std::vector<std::string>& other : rows)
                width = std::max(width, other[at].size());
            line += at == 0 ? padded(row[at], width) : "  " + padded(row[at], width);
        }
        while (!line.empty() && line.back() == ' ') line.pop_back();
        text += line + "\n";
    }
    return text;
}

std::size_t widest_line(const std::string& text) {
    std::size_t widest = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) widest = std::max(widest, width_of(line));
    return widest;
}

/// Tables below each other, each of as many machines as fit.
std::string tables(std::span<const Machine> machines, std::size_t columns) {
    std::string text;
    while (!machines.empty()) {
        std::size_t count = machines.size();
        while (count > 1 && widest_line(table(machines.first(count))) > columns) --count;
        text += table(machines.first(count)) + "\n";
        machines = machines.subspan(count);
    }
    text.pop_back();
    return text + "~ is assumed: neither measured nor published\n";
}

Json json_of(const std::vector<Machine>& machines) {
    Json json{{"ok", true}, {"machines", Json::array()}, {"figures", Json::object()}};
    for (const Machine& machine : machines) {
        json["machines"].push_back(machine.name);
        for (const auto& [key, figure] : machine.figures) json["figures"][key] = Json::array();
    }
    for (auto& [key, values] : json["figures"].items())
        for (const Machine& machine : machines) {
            const auto found = machine.figures.find(key);
            values.push_back(found == machine.figures.end()
                                 ? Json(nullptr)
                                 : Json{{"value", found->second.value},
                                        {"text", found->second.text},
                                        {"from", name_of(found->second.origin)}});
        }
    return json;
}

/// Those that share a name are called as they were asked for.
void tell_apart(std::vector<Machine>& machines, const std::vector<std::string>& asked) {
    std::map<std::string, int> named;
    for (const Machine& machine : machines) ++named[machine.name];
    for (std::size_t i = 0; i < machines.size(); ++i)
        if (named[machines[i].name] > 1) machines[i].name = asked[i];
}

}  // namespace

Result<int> run_compare(Context& context) {
    std::vector<Machine> machines;
    for (const std::string& name : context.arguments.several) {
        Result<Machine> machine = take_machine(context.sources, name, "machine");
        if (!machine) return machine.error();
        machines.push_back(std::move(machine).value());
    }
    tell_apart(machines, context.arguments.several);
    print_data(context.arguments.json
                   ? text_of(json_of(machines))
                   : tables(machines, static_cast<std::size_t>(terminal_width())));
    return kOk;
}

}  // namespace napkin::cli
