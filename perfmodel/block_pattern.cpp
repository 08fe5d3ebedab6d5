#include "perfmodel/block_pattern.h"

#include <algorithm>

#include "diagrams/index/mask.h"
#include "schedule/form.h"

namespace napkin {

std::vector<Visits> pattern_of(const RegionProgram& region) {
    for (const Loop* loop : schedule::loops_of(region)) {
        if (loop->visible.empty() || loop->level != Level::Block) continue;
        const index::Mask mask(region.axes, loop->visible);
        const std::int64_t extent = region.axes[loop->axis.index()].extent;
        std::vector<Visits> pattern;
        std::vector<const Parallel*> groups;
        const auto visit = [&](const auto& self, const std::vector<TileStatement>& body) -> void {
            for (const TileStatement& statement : body)
                if (const Parallel* group = std::get_if<Parallel>(&statement.node)) {
                    const bool matters = std::any_of(
                        loop->visible.begin(), loop->visible.end(), [&](const Expression& each) {
                            return axes_used(each).contains(group->axis);
                        });
                    if (matters && group->level == Level::Block) groups.push_back(group);
                    self(self, group->body);
                }
        };
        visit(visit, region.body);
        Ranges ranges;
        const auto each_block = [&](const auto& self, std::size_t at) -> void {
            if (at < groups.size()) {
                const std::int64_t whole = region.axes[groups[at]->axis.index()].extent;
                for (std::int64_t low = 0; low < whole; low += groups[at]->size) {
                    ranges[groups[at]->axis] = {low, std::min(low + groups[at]->size, whole) - 1};
                    self(self, at + 1);
                }
                return;
            }
            Visits visits;
            for (std::int64_t low = 0; low < extent; low += loop->size) {
                ranges[loop->axis] = {low, std::min(low + loop->size, extent) - 1};
                if (!mask.meets(ranges)) continue;
                visits.chunks += 1;
                visits.cut += mask.covers(ranges) ? 0 : 1;
            }
            ranges.erase(loop->axis);
            pattern.push_back(visits);
        };
        each_block(each_block, 0);
        std::stable_sort(pattern.begin(), pattern.end(),
                         [](const Visits& a, const Visits& b) { return a.chunks > b.chunks; });
        return pattern;
    }
    return {};
}

}  // namespace napkin
