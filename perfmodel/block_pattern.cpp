#include "perfmodel/block_pattern.h"

#include <algorithm>

#include "diagrams/contains.h"
#include "diagrams/index/mask.h"
#include "schedule/statements.h"

namespace napkin {
namespace {

const Loop* loop_within(const std::vector<TileStatement>& body) {
    for (const TileStatement& statement : body)
        if (const Loop* loop = std::get_if<Loop>(&statement.node)) return loop;
    return nullptr;
}

/// Counts the chunks of loops that stand in each other, block by block.
class PatternMaker {
public:
    PatternMaker(const RegionProgram& region, const Loop& first) : region_(region) {
        std::vector<Expression> all;
        for (const Loop* loop = &first; loop != nullptr; loop = loop_within(loop->body)) {
            loops_.push_back(loop);
            for (const Expression& condition : loop->visible)
                if (!contains(all, condition)) all.push_back(condition);
            masks_.emplace_back(region.axes, all);
        }
        find_groups(region.body, all);
    }

    std::vector<Visits> run() {
        visit_groups(0);
        std::stable_sort(pattern_.begin(), pattern_.end(),
                         [](const Visits& a, const Visits& b) { return a.chunks > b.chunks; });
        return std::move(pattern_);
    }

private:
    void find_groups(const std::vector<TileStatement>& body, const std::vector<Expression>& all) {
        for (const TileStatement& statement : body) {
            const Parallel* group = std::get_if<Parallel>(&statement.node);
            if (group == nullptr) continue;
            const bool matters = std::any_of(all.begin(), all.end(), [&](const Expression& each) {
                return axes_used(each).contains(group->axis);
            });
            if (matters && group->level == Level::Block) groups_.push_back(group);
            find_groups(group->body, all);
        }
    }

    template <class Visit>
    void for_parts(AxisId axis, std::int64_t size, const Visit& visit) {
        const std::int64_t extent = region_.axes[axis.index()].extent;
        for (std::int64_t low = 0; low < extent; low += size) {
            ranges_[axis] = {low, std::min(low + size, extent) - 1};
            visit();
        }
        ranges_.erase(axis);
    }

    void visit_groups(std::size_t at) {
        if (at < groups_.size())
            return for_parts(groups_[at]->axis, groups_[at]->size, [&] { visit_groups(at + 1); });
        pattern_.emplace_back();
        visit_chunks(0);
    }

    void visit_chunks(std::size_t at) {
        for_parts(loops_[at]->axis, loops_[at]->size, [&] {
            if (!masks_[at].meets(ranges_)) return;
            if (at + 1 < loops_.size()) return visit_chunks(at + 1);
            pattern_.back().chunks += 1;
            pattern_.back().cut += masks_[at].covers(ranges_) ? 0 : 1;
        });
    }

    const RegionProgram& region_;
    std::vector<const Loop*> loops_;
    std::vector<index::Mask> masks_;  ///< what a chunk of each loop has to meet
    std::vector<const Parallel*> groups_;
    Ranges ranges_;
    std::vector<Visits> pattern_;
};

}  // namespace

std::vector<Visits> pattern_of(const RegionProgram& region) {
    for (const Loop* loop : schedule::loops_of(region))
        if (!loop->visible.empty() && loop->level == Level::Block)
            return PatternMaker(region, *loop).run();
    return {};
}

}  // namespace napkin
