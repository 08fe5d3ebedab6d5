#include "perfmodel/resize.h"

#include <algorithm>

#include "derive/liveness.h"
#include "diagrams/checked.h"
#include "perfmodel/tile_count.h"

namespace napkin {

namespace {

void resize(std::vector<TileStatement>& body, const SymbolValues& sizes) {
    for (TileStatement& statement : body) {
        if (Parallel* parallel = std::get_if<Parallel>(&statement.node)) {
            const auto size = sizes.find(group_size(parallel->axis, parallel->level));
            if (size != sizes.end()) parallel->size = size->second;
            resize(parallel->body, sizes);
        } else if (Loop* loop = std::get_if<Loop>(&statement.node)) {
            const auto size = sizes.find(stream_size(loop->axis, loop->level));
            if (size != sizes.end()) loop->size = size->second;
            resize(loop->body, sizes);
        }
    }
}

}  // namespace

RegionProgram resized(RegionProgram region, const SymbolValues& sizes) {
    resize(region.body, sizes);
    const SymbolValues all = sizes_of(region);
    for (Variable& variable : region.variables)
        for (std::size_t k = 0; k < variable.capacity.size(); ++k)
            variable.capacity_extent[k] = evaluate_integer(variable.capacity[k], all);
    return region;
}

std::optional<std::int64_t> allocated_bits(const RegionProgram& region, Level level) {
    std::int64_t most = 0;
    for (const Moment& moment : liveness(region)) {
        CheckedInt held = 0;
        for (VariableId id : moment.during) {
            const Variable& variable = region.variables[id.index()];
            if (variable.level != level) continue;
            CheckedInt bits = bits_of(variable.type);
            for (std::int64_t extent : variable.capacity_extent) bits = bits * extent;
            held = held + bits;
        }
        if (!held) return std::nullopt;
        most = std::max(most, *held);
    }
    return most;
}

}  // namespace napkin
