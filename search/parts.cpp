#include "search/parts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "diagrams/rounding.h"
#include "search/kernels.h"
#include "search/tiling_space.h"

namespace napkin {
namespace {

/// Sizes of parts beside another that divide an axis: the next smaller, then the next larger.
std::array<std::int64_t, 2> dividing(std::int64_t extent, std::int64_t size) {
    std::array<std::int64_t, 2> beside = {size, size};
    while (extent % beside[0] != 0) --beside[0];
    while (extent % beside[1] != 0) ++beside[1];
    return beside;
}

/// The state with its stream in parts of a size that the rule takes, which the command notes.
std::optional<State> split(const State& tiled, Command& command, std::int64_t extent) {
    if (std::optional<State> state = after(tiled, {command})) return state;
    if (extent % *command.size == 0) return std::nullopt;
    for (const std::int64_t size : dividing(extent, *command.size)) {
        command.size = size;
        std::optional<State> state = size < extent ? after(tiled, {command}) : std::nullopt;
        if (state) return state;
    }
    return std::nullopt;
}

/// A row of the results a block in the kernel that puts parts together, whatever groups it has of
/// the kernel that it was split from. Their last axis is adjacent in memory and stays whole; of a
/// single axis the groups are as good there.
std::vector<Command> rows_of(const State& split, const std::string& region_name) {
    std::vector<Command> commands;
    const Region& region = region_named(split, region_name);
    const std::vector<ArrayId> saved = saves_of(split.diagram, region);
    const std::vector<AxisId>& axes = split.diagram[saved.front()].axes;
    if (axes.size() == 1) return commands;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const Axis& axis = split.diagram[axes[i]];
        if (axis.woven) continue;
        Command command;
        command.names = {axis.name};
        command.in = region_name;
        command.at = "l1";
        command.rule = "ungroup";
        if (std::any_of(region.groups.begin(), region.groups.end(),
                        [&](const Group& group) { return group.axis == axes[i]; }))
            commands.push_back(command);
        command.rule = "group";
        command.size = 1;
        if (i + 1 < axes.size()) commands.push_back(command);
    }
    return commands;
}

/// Of an axis that a tiling streams; 1 where it does not.
std::int64_t chunk_of(const std::vector<Command>& tiling, const std::string& axis) {
    for (const Command& command : tiling)
        if (command.rule == "stream" && command.names.front() == axis) return *command.size;
    return 1;
}

}  // namespace

std::optional<std::vector<Command>> in_parts(const State& plain, const std::string& region,
                                             std::vector<Command> tiling, AxisId axis,
                                             std::int64_t part) {
    const std::optional<State> tiled = after(plain, tiling);
    if (!tiled) return std::nullopt;
    Command command;
    command.rule = "split-stream";
    command.names = {plain.diagram[axis].name};
    command.size = part;
    if (plain.relabelling.regions.size() > 1) command.in = region;
    const std::optional<State> parted = split(*tiled, command, plain.diagram[axis].extent);
    if (!parted) return std::nullopt;
    tiling.push_back(std::move(command));
    for (Command& row : rows_of(*parted, region)) tiling.push_back(std::move(row));
    return tiling;
}

std::vector<std::vector<Command>> ways_in_parts(const State& plain, const std::string& region,
                                                const std::vector<Command>& tiling,
                                                std::int64_t blocks, std::int64_t processors) {
    std::vector<std::vector<Command>> ways;
    if (blocks >= processors) return ways;
    const auto parts = static_cast<std::int64_t>(std::bit_ceil(
        static_cast<std::uint64_t>(ceil_quotient(processors, std::max<std::int64_t>(blocks, 1)))));
    std::set<AxisId> folded;
    for (const StatementId id : region_named(plain, region).statements)
        for (const AxisId axis : folded_axes(plain.diagram[id])) folded.insert(axis);
    for (const AxisId axis : folded) {
        const std::int64_t extent = plain.diagram[axis].extent;
        const std::int64_t chunk = chunk_of(tiling, plain.diagram[axis].name);
        const std::int64_t part = padded(ceil_quotient(extent, parts), chunk);
        if (part >= extent) continue;
        if (auto way = in_parts(plain, region, tiling, axis, part)) ways.push_back(std::move(*way));
    }
    return ways;
}

}  // namespace napkin
