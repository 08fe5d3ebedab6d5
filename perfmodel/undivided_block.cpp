#include "perfmodel/undivided_block.h"

#include <algorithm>
#include <map>
#include <utility>

#include "diagrams/contains.h"
#include "diagrams/overloaded.h"

namespace napkin {
namespace {

class Undivider {
public:
    explicit Undivider(const RegionProgram& region) : result_(region) {
        for (const Axis& axis : region.axes) extents_.push_back(axis.extent);
    }

    RegionProgram run() {
        find_collected(result_.body);
        find_saved(result_.body);
        result_.body = undivided(result_.body);
        for (Variable& variable : result_.variables) {
            if (variable.level > Level::Block) variable.level = Level::Block;
        }
        return std::move(result_);
    }

private:
    [[nodiscard]] const Variable& variable(VariableId id) const {
        return result_.variables[id.index()];
    }
    [[nodiscard]] bool is_held(VariableId id) const { return variable(id).level >= Level::Block; }

    /// Tiles that the chunks of a loop are saved to, each a part of one.
    void find_collected(const std::vector<TileStatement>& body,
                        const std::vector<const Loop*>& loops = {}) {
        for (const TileStatement& statement : body) {
            if (const Parallel* group = std::get_if<Parallel>(&statement.node))
                find_collected(group->body, loops);
            if (const Loop* loop = std::get_if<Loop>(&statement.node)) {
                std::vector<const Loop*> within = loops;
                within.push_back(loop);
                find_collected(loop->body, within);
            }
            const Save* save = std::get_if<Save>(&statement.node);
            if (save == nullptr || !save->target) continue;
            const bool in_parts = std::any_of(loops.begin(), loops.end(), [&](const Loop* loop) {
                return variable(*save->target).level < loop->level &&
                       contains(result_.arrays[save->array.index()].axes, loop->axis);
            });
            if (in_parts) collected_.push_back(*save->target);
        }
    }

    void find_saved(const std::vector<TileStatement>& body) {
        for (const TileStatement& statement : body) {
            if (const Parallel* group = std::get_if<Parallel>(&statement.node))
                find_saved(group->body);
            if (const Loop* loop = std::get_if<Loop>(&statement.node)) find_saved(loop->body);
            const Save* save = std::get_if<Save>(&statement.node);
            if (save != nullptr && save->target && is_held(*save->target) &&
                variable(save->source).type == variable(*save->target).type &&
                !contains(collected_, *save->target))
                same_.emplace(save->source, *save->target);
        }
    }

    /// The tile that stands for another.
    [[nodiscard]] VariableId tile_of(VariableId id) const {
        const auto outer = same_.find(id);
        return outer == same_.end() ? id : tile_of(outer->second);
    }

    std::vector<TileStatement> undivided(const std::vector<TileStatement>& body) {
        std::vector<TileStatement> result;
        for (const TileStatement& statement : body)
            std::visit(overloaded{[&](const Parallel& group) { add(group, statement, result); },
                                  [&](const Loop& loop) { add(loop, statement, result); },
                                  [&](const Load& load) { add(load, statement, result); },
                                  [&](const Compute& compute) { add(compute, statement, result); },
                                  [&](const Save& save) { add(save, statement, result); }},
                       statement.node);
        return result;
    }

    template <class Part>
    [[nodiscard]] Part with_body(const Part& part) {
        std::int64_t& extent = extents_[part.axis.index()];
        const std::int64_t whole = extent;
        extent = std::min(extent, part.size);
        Part result = part;
        result.body = undivided(part.body);
        extent = whole;
        return result;
    }

    void add(const Parallel& group, const TileStatement& statement,
             std::vector<TileStatement>& result) {
        if (group.level <= Level::Block) {
            result.push_back({with_body(group), statement.span});
            return;
        }
        for (TileStatement& inner : undivided(group.body)) result.push_back(std::move(inner));
    }
    void add(const Loop& loop, const TileStatement& statement, std::vector<TileStatement>& result) {
        result.push_back({with_body(loop), statement.span});
    }
    void add(const Load& load, const TileStatement& statement, std::vector<TileStatement>& result) {
        if (load.source && is_held(*load.source))
            same_.insert_or_assign(load.target, *load.source);
        else
            result.push_back(statement);
    }
    void add(Compute compute, const TileStatement& statement, std::vector<TileStatement>& result) {
        for (VariableId& target : compute.targets) {
            target = tile_of(target);
            widen(target);
        }
        for (VariableId& read : compute.reads) read = tile_of(read);
        result.push_back({std::move(compute), statement.span});
    }
    void add(Save save, const TileStatement& statement, std::vector<TileStatement>& result) {
        save.source = tile_of(save.source);
        if (save.target) save.target = tile_of(*save.target);
        if (save.target == save.source) return;
        if (save.target) widen(*save.target);
        result.push_back({save, statement.span});
    }

    /// To what the block has of the tile's axes where the reader stands.
    void widen(VariableId id) {
        Variable& tile = result_.variables[id.index()];
        if (tile.level <= Level::Block) return;
        const std::vector<AxisId>& axes = result_.arrays[tile.array.index()].axes;
        for (std::size_t k = 0; k < axes.size(); ++k)
            tile.capacity_extent[k] = std::max(tile.capacity_extent[k], extents_[axes[k].index()]);
    }

    RegionProgram result_;
    std::vector<std::int64_t> extents_;  ///< of axes, where the reader stands
    std::vector<VariableId> collected_;
    std::map<VariableId, VariableId> same_;  ///< tiles, each with the outer one that it is one with
};

}  // namespace

std::optional<RegionProgram> undivided_block(const RegionProgram& region) {
    if (std::none_of(region.variables.begin(), region.variables.end(),
                     [](const Variable& tile) { return tile.level > Level::Block; }))
        return std::nullopt;
    return Undivider(region).run();
}

}  // namespace napkin
