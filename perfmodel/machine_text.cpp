// Machines as the text of a machine file.
#include <fmt/format.h>

#include <algorithm>

#include "perfmodel/machine.h"

namespace napkin {
namespace {

/// A text in quotes, as TOML reads it.
std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            result += '\\';
        else if (static_cast<unsigned char>(c) < ' ') {
            result += fmt::format("\\u{:04x}", static_cast<int>(c));
            continue;
        }
        result += c;
    }
    return result + "\"";
}

std::string table_of(std::string_view key) {
    return std::string(key.substr(0, key.find('.')));
}

/// The tables in the order of the catalogue, each once; those of levels, whether they have figures
/// or not.
std::vector<std::string> tables_of(const Machine& machine) {
    std::vector<std::string> tables;
    const auto add = [&](std::string table) {
        if (std::find(tables.begin(), tables.end(), table) == tables.end())
            tables.push_back(std::move(table));
    };
    for (const Level level : machine.levels()) add(std::string(name_of(level)));
    for (const FigureKind& kind : all_figures())
        if (machine.figures.contains(std::string(kind.key))) add(table_of(kind.key));
    return tables;
}

std::string level_text(const Machine& machine, const std::string& table) {
    const std::optional<Level> level = level_named(table);
    if (!level || !machine.has(*level)) return "";
    std::string text = "title = " + quoted(machine.level_titles.at(*level)) + "\n";
    if (const auto memory = machine.memories.find(*level); memory != machine.memories.end())
        text += "memory = " + quoted(memory->second) + "\n";
    return text;
}

}  // namespace

std::string machine_file_text(const Machine& machine) {
    std::string text =
        "name = " + quoted(machine.name) + "\ntitle = " + quoted(machine.title) + "\n";
    if (!machine.target.empty()) text += "target = " + quoted(machine.target) + "\n";
    for (const std::string& table : tables_of(machine)) {
        text += "\n[" + table + "]\n" + level_text(machine, table);
        for (const FigureKind& kind : all_figures()) {
            const auto figure = machine.figures.find(std::string(kind.key));
            if (table_of(kind.key) != table || figure == machine.figures.end()) continue;
            text += fmt::format("{} = {{ value = {}, from = \"{}\", source = {} }}\n",
                                kind.key.substr(table.size() + 1), quoted(figure->second.text),
                                name_of(figure->second.origin), quoted(figure->second.source));
        }
    }
    return text;
}

}  // namespace napkin
