#include "codegen/tensor/block_order.h"

#include <algorithm>

#include "diagrams/index/mask.h"

namespace napkin::lowering {
namespace {

/// About the square root of the blocks that a large device runs at once.
constexpr std::int64_t kBand = 16;

void collect(const std::vector<TileStatement>& body, std::vector<const Parallel*>& groups,
             std::vector<const Loop*>& loops) {
    for (const TileStatement& statement : body) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node)) {
            groups.push_back(parallel);
            collect(parallel->body, groups, loops);
        } else if (const Loop* loop = std::get_if<Loop>(&statement.node)) {
            loops.push_back(loop);
            collect(loop->body, groups, loops);
        }
    }
}

/// Chunks that are visited where the axes have the given ranges.
std::int64_t visited(const RegionProgram& region, const Loop& loop, const index::Mask& mask,
                     Ranges ranges) {
    const std::int64_t extent = region.axes[loop.axis.index()].extent;
    std::int64_t count = 0;
    for (std::int64_t start = 0; start < extent; start += loop.size) {
        ranges[loop.axis] = {start, std::min(start + loop.size, extent) - 1};
        if (mask.meets(ranges)) ++count;
    }
    return count;
}

}  // namespace

BlockOrder block_order(const RegionProgram& region, const schedule::Plan& plan) {
    std::vector<const Parallel*> groups;
    std::vector<const Loop*> loops;
    collect(region.body, groups, loops);
    BlockOrder order;
    for (const Loop* loop : loops) {
        if (loop->visible.empty()) continue;
        const index::Mask mask(region.axes, loop->visible);
        for (const Parallel* group : groups) {
            const bool matters = std::any_of(loop->visible.begin(), loop->visible.end(),
                                             [&](const Expression& condition) {
                                                 return axes_used(condition).contains(group->axis);
                                             });
            if (!matters) continue;
            const std::int64_t extent = region.axes[group->axis.index()].extent;
            const std::int64_t last = (extent - 1) / group->size * group->size;
            Ranges start;
            for (const Parallel* other : groups)
                start[other->axis] = {
                    0, std::min(other->size, region.axes[other->axis.index()].extent) - 1};
            Ranges end = start;
            end[group->axis] = {last, extent - 1};
            if (visited(region, *loop, mask, end) > visited(region, *loop, mask, start))
                order.reversed.insert(group->axis);
        }
    }
    if (groups.size() >= 2) {
        const AxisId slow = groups[groups.size() - 2]->axis;
        const AxisId fast = groups.back()->axis;
        const auto spans = [&](const auto& product) {
            const AxisId column = product.second.column;
            return (slow == plan.row && fast == column) || (slow == column && fast == plan.row);
        };
        if (std::any_of(plan.products.begin(), plan.products.end(), spans)) order.band = kBand;
    }
    return order;
}

}  // namespace napkin::lowering
