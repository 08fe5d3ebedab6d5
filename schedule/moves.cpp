#include "schedule/moves.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/planner.h"

namespace napkin::schedule {
namespace {

Command move_of(const char* rule, const std::string& axis, std::int64_t size) {
    Command command;
    command.rule = rule;
    command.names = {axis};
    command.size = size;
    command.at = "l1";
    return command;
}

/// The first partition below the block.
struct Below {
    AxisId axis;
    Level level = Level::Warps;
    bool grouped = true;
};
std::optional<Below> below_block(const std::vector<TileStatement>& body) {
    for (const TileStatement& statement : body) {
        std::optional<Below> found;
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node))
            found = parallel->level > Level::Block ? Below{parallel->axis, parallel->level, true}
                                                   : below_block(parallel->body);
        if (const Loop* loop = std::get_if<Loop>(&statement.node))
            found = loop->level > Level::Block ? Below{loop->axis, loop->level, false}
                                               : below_block(loop->body);
        if (found) return found;
    }
    return std::nullopt;
}

std::int64_t shared_bytes(const Plan& plan) {
    std::int64_t bytes = 0;
    for (const auto& [variable, tile] : plan.tiles)
        if (tile.home == Home::Matrix)
            bytes += tile.rows * tile.columns * static_cast<std::int64_t>(bits_of(tile.type)) / 8;
    for (const auto& [compute, product] : plan.products)
        for (const Operand* side : {&product.left, &product.right})
            if (side->panel)
                bytes += panel_extent(plan, side->panel->rows) *
                         panel_extent(plan, side->panel->columns) *
                         static_cast<std::int64_t>(bits_of(product.type)) / 8;
    return bytes;
}

}  // namespace

void Planner::refuse_levels() {
    const std::optional<Below> below = below_block(region_.body);
    if (!below) return refuse("it keeps tiles below the block, whose warps share them");
    Command undo = move_of(below->grouped ? "ungroup" : "unstream", name(below->axis), 0);
    undo.size.reset();
    undo.at = name_of(below->level);
    refuse(fmt::format("it {} `{}` at {}, and the warps of a block share its tiles by themselves",
                       below->grouped ? "groups" : "streams", name(below->axis),
                       name_of(below->level)),
           "", {std::move(undo)});
}

std::string Planner::apart() const {
    return computes_.size() > 1 ? "compute it in a region of its own" : "";
}

std::vector<Command> Planner::narrowing(const std::vector<AxisId>& axes, std::int64_t size) const {
    std::vector<Command> moves;
    // What is short loses least by it.
    std::vector<AxisId> shortest;
    for (const AxisId axis : axes) {
        const TileAxis* tile = find_tile_axis(plan_.tile_axes, axis);
        if (tile == nullptr) shortest.push_back(axis);
        if (tile != nullptr)
            for (const TilePart& part : tile->parts) shortest.push_back(part.axis);
    }
    std::stable_sort(shortest.begin(), shortest.end(),
                     [&](AxisId a, AxisId b) { return plan_.extents.at(a) < plan_.extents.at(b); });
    for (const AxisId axis : shortest)
        for (const char* rule : {"group", "stream"})
            moves.push_back(move_of(rule, name(axis), size));
    return moves;
}

/// Smaller blocks and chunks of what is large.
std::vector<Command> Planner::shrinking() const {
    std::vector<std::pair<std::int64_t, AxisId>> large;
    for (const auto& [axis, extent] : plan_.extents)
        if (find_tile_axis(plan_.tile_axes, axis) == nullptr) large.emplace_back(-extent, axis);
    std::sort(large.begin(), large.end());
    std::vector<Command> moves;
    for (const auto& [extent, axis] : large) {
        const std::int64_t size = -extent > 64 ? 64 : -extent > 16 ? 16 : 1;
        if (-extent == 1) continue;
        for (Command& move : narrowing({axis}, size)) moves.push_back(std::move(move));
    }
    return moves;
}

std::vector<Command> Planner::moves() const {
    return refused_ ? moves_ : shrinking();
}

std::vector<Command> proposed_moves(const RegionProgram& region, const Limits& limits) {
    const TiledRegion tiled = with_tile_axes(region);
    Planner planner(tiled, limits);
    static_cast<void>(planner.run());
    return planner.moves();
}

bool has_plan(const RegionProgram& region, const Limits& limits) {
    const std::variant<Plan, Refusal> plan = make_plan(with_tile_axes(region), limits);
    const Plan* made = std::get_if<Plan>(&plan);
    return made != nullptr && shared_bytes(*made) <= limits.shared_memory;
}

}  // namespace napkin::schedule
