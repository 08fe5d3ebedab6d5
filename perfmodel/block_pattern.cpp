#include "perfmodel/block_pattern.h"

#include <algorithm>
#include <utility>

#include "diagrams/contains.h"
#include "diagrams/index/mask.h"
#include "diagrams/recent.h"
#include "diagrams/rounding.h"
#include "schedule/statements.h"

namespace napkin {
namespace {

const Loop* loop_within(const std::vector<TileStatement>& body) {
    for (const TileStatement& statement : body)
        if (const Loop* loop = std::get_if<Loop>(&statement.node)) return loop;
    return nullptr;
}

/// All that a pattern follows from: extents, parts along axes, and masks, each loop's or none.
struct Question {
    std::vector<std::int64_t> numbers;
    std::vector<std::vector<Expression>> masks;
    bool operator==(const Question&) const = default;
};

/// Counts the chunks of loops that stand in each other, block by block.
class PatternMaker {
public:
    PatternMaker(const RegionProgram& region, const Loop& first) : region_(region) {
        std::vector<Expression> all;
        for (const Loop* loop = &first; loop != nullptr; loop = loop_within(loop->body)) {
            loops_.push_back(loop);
            for (const Expression& condition : loop->visible)
                if (!contains(all, condition)) all.push_back(condition);
            question_.masks.push_back(all);
        }
        find_groups(region.body, all);
        for (const Axis& axis : region.axes) question_.numbers.push_back(axis.extent);
        const auto add_part = [&](const auto& part) {
            question_.numbers.push_back(part.axis.value);
            question_.numbers.push_back(part.size);
        };
        for (const Loop* loop : loops_) add_part(*loop);
        for (const Parallel* group : groups_) add_part(*group);
    }

    [[nodiscard]] const Question& question() const { return question_; }

    std::vector<Visits> run() {
        for (const std::vector<Expression>& all : question_.masks)
            masks_.emplace_back(region_.axes, all);
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
        const Loop& loop = *loops_[at];
        const std::int64_t extent = region_.axes[loop.axis.index()].extent;
        halve(at, 0, ceil_quotient(extent, loop.size));
        ranges_.erase(loop.axis);
    }

    /// The chunks of a loop from `first` to before `last`: all at once where the mask leaves all
    /// or none of them out, which is to ask far less often than there are chunks.
    void halve(std::size_t at, std::int64_t first, std::int64_t last) {
        const Loop& loop = *loops_[at];
        const std::int64_t extent = region_.axes[loop.axis.index()].extent;
        ranges_[loop.axis] = {first * loop.size, std::min(last * loop.size, extent) - 1};
        if (!masks_[at].meets(ranges_)) return;
        const bool is_innermost = at + 1 == loops_.size();
        const bool is_covered = is_innermost && masks_[at].covers(ranges_);
        if (last - first > 1 && !is_covered) {
            const std::int64_t middle = first + (last - first) / 2;
            halve(at, first, middle);
            return halve(at, middle, last);
        }
        if (!is_innermost) return visit_chunks(at + 1);
        pattern_.back().chunks += static_cast<double>(last - first);
        pattern_.back().cut += is_covered ? 0 : 1;
    }

    const RegionProgram& region_;
    Question question_;
    std::vector<const Loop*> loops_;
    std::vector<index::Mask> masks_;  ///< what a chunk of each loop has to meet
    std::vector<const Parallel*> groups_;
    Ranges ranges_;
    std::vector<Visits> pattern_;
};

}  // namespace

std::vector<Visits> pattern_of(const RegionProgram& region) {
    constexpr std::size_t kMost = 64;
    thread_local Recent<Question, std::vector<Visits>> kept(kMost);
    for (const Loop* loop : schedule::loops_of(region)) {
        if (loop->visible.empty() || loop->level != Level::Block) continue;
        PatternMaker maker(region, *loop);
        if (const std::vector<Visits>* pattern = kept.find(maker.question())) return *pattern;
        return kept.keep(maker.question(), maker.run());
    }
    return {};
}

}  // namespace napkin
