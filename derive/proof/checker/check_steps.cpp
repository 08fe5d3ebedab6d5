// Steps against programs, both ways: no group and no chunk that no step asked for, and no step
// without its group or chunk unless a later one may have undone it.
#include <algorithm>
#include <array>
#include <set>

#include "derive/proof/checker/check_certificate.h"
#include "derive/proof/checker/program_reader.h"

namespace napkin::proof::checker {
namespace {

/// A group or a stream: of which axis, in which sizes, where.
struct Tile {
    bool streams = false;
    std::string axis;
    std::int64_t size = 1;
    std::string level;
    auto operator<=>(const Tile&) const = default;
};

std::string text_of(const Tile& tile) {
    return std::string(tile.streams ? "chunks" : "groups") + " of " + std::to_string(tile.size) +
           " `" + tile.axis + "` at " + tile.level;
}

void collect(const Json& body, std::set<Tile>& out) {
    for (const Json& step : body) {
        const bool streams = step.contains("loop");
        if (!streams && !step.contains("parallel")) continue;
        out.insert({streams, step.at(streams ? "loop" : "parallel").get<std::string>(),
                    step.at("by").get<std::int64_t>(), step.at("level").get<std::string>()});
        collect(step.at("body"), out);
    }
}

std::vector<Command> commands_of(const std::vector<std::string>& lines) {
    std::vector<Command> commands;
    for (const std::string& line : lines) {
        SourceMap sources;
        const Result<Command> command = parse_command(sources, sources.add("step", line));
        if (!command) throw MalformedCertificate("`" + line + "` is no step");
        commands.push_back(*command);
    }
    return commands;
}

Tile tile_of(const Command& command) {
    const std::optional<Level> level = level_named(command.at.empty() ? "block" : command.at);
    if (!level) throw MalformedCertificate("no level `" + command.at + "`");
    return {command.rule == "stream", command.names.at(0), command.size.value_or(0),
            std::string(name_of(*level))};
}

bool is_tiling(const Command& command) {
    return (command.rule == "group" || command.rule == "stream") && !command.names.empty();
}

void compare(const std::vector<Command>& commands, const std::set<Tile>& tiles,
             const std::string& where, std::vector<std::string>& failures) {
    // Rules that leave every tile as it was; after others a tile may be gone or have another axis.
    constexpr std::array kKeep = {"group", "stream", "recolour", "retype", "set"};
    std::set<Tile> asked;
    for (const Command& command : commands)
        if (is_tiling(command)) asked.insert(tile_of(command));
    for (const Tile& tile : tiles)
        if (asked.count(tile) == 0 && (tile.streams || tile.size != 1))
            failures.push_back(where + text_of(tile) + ", which no step asks for");
    for (auto command = commands.rbegin(); command != commands.rend(); ++command) {
        if (std::find(kKeep.begin(), kKeep.end(), command->rule) == kKeep.end()) break;
        if (is_tiling(*command) && tiles.count(tile_of(*command)) == 0)
            failures.push_back(where + "no " + text_of(tile_of(*command)) +
                               ", which a step asks for");
    }
}

}  // namespace

std::vector<std::string> check_steps(const Json& certificate) {
    std::vector<std::string> failures;
    std::vector<std::string> lines;
    for (const Json& step : certificate.at("derivation").at("steps"))
        lines.push_back(step.at("command").get<std::string>());
    std::set<Tile> tiles;
    for (const Json& region : certificate.at("relabelling"))
        for (const bool streams : {false, true})
            for (const Json& tile : region.at(streams ? "streams" : "groups"))
                tiles.insert({streams, tile.at("axis").get<std::string>(),
                              tile.at("by").get<std::int64_t>(),
                              tile.at("level").get<std::string>()});
    compare(commands_of(lines), tiles, "the relabelling has ", failures);
    std::size_t number = 0;
    for (const Json& shape : certificate.at("shapes")) {
        const std::string where = "shape " + std::to_string(++number) + " has ";
        std::set<Tile> found;
        for (const Json& region : shape.at("program").at("regions"))
            collect(region.at("body"), found);
        compare(commands_of(shape.at("commands").get<std::vector<std::string>>()), found, where,
                failures);
    }
    return failures;
}

}  // namespace napkin::proof::checker
