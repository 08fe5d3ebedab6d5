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

/// Whether an axis is the one asked for; `x_in*` is `x_in`, numbered or not.
bool is_axis(const std::string& asked, const std::string& axis) {
    if (asked.empty() || asked.back() != '*') return asked == axis;
    const std::size_t stem = asked.size() - 1;
    return axis.compare(0, stem, asked, 0, stem) == 0 &&
           axis.find_first_not_of("0123456789", stem) == std::string::npos;
}

bool is_asked(const std::set<Tile>& asked, const Tile& tile) {
    return std::any_of(asked.begin(), asked.end(), [&](const Tile& each) {
        return each.streams == tile.streams && each.size == tile.size && each.level == tile.level &&
               is_axis(each.axis, tile.axis);
    });
}

/// What the places in the parts of an axis are called.
std::string inner_axis(const Command& command) {
    if (command.as.size() > 1) return command.as[1];
    std::string stem = command.names.at(0);
    for (const char* suffix : {"_part", "_in"})
        if (const std::size_t at = stem.find(suffix); at != std::string::npos && at > 0)
            stem.resize(at);
    return stem + "_in*";
}

/// What was asked for by commands up to the last. A stream of an axis that is split later is one of
/// the places in its parts.
std::set<Tile> tiles_asked(const std::vector<Command>& commands) {
    std::set<Tile> asked;
    for (const Command& command : commands) {
        if (is_tiling(command)) asked.insert(tile_of(command));
        if (command.rule != "split-stream" || command.names.empty()) continue;
        std::set<Tile> inner;
        for (Tile tile : asked)
            if (tile.streams && is_axis(tile.axis, command.names[0])) {
                tile.axis = inner_axis(command);
                inner.insert(std::move(tile));
            }
        asked.merge(inner);
    }
    return asked;
}

void compare(const std::vector<Command>& commands, const std::set<Tile>& tiles,
             const std::string& where, std::vector<std::string>& failures) {
    // Rules that leave every tile as it was; after others a tile may be gone or have another axis.
    constexpr std::array kKeep = {"group", "stream", "recolour", "retype", "schedule", "set"};
    const std::set<Tile> asked = tiles_asked(commands);
    for (const Tile& tile : tiles)
        if (!is_asked(asked, tile) && (tile.streams || tile.size != 1))
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
