#include "perfmodel/block_pattern.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "diagrams/checked.h"
#include "diagrams/contains.h"
#include "diagrams/index/mask.h"
#include "diagrams/index/visit_count.h"
#include "diagrams/recent.h"
#include "diagrams/rounding.h"

namespace napkin {
namespace {

/// Blocks beyond which some are asked about for all.
constexpr std::int64_t kMostBlocks = 1024;
constexpr std::int64_t kFewestBlocks = 4;
/// Chunks that take some 50 ms to ask a mask about, one by one.
constexpr std::int64_t kMostChunks = 20'000;

const Loop* loop_within(const std::vector<TileStatement>& body) {
    for (const TileStatement& statement : body)
        if (const Loop* loop = std::get_if<Loop>(&statement.node)) return loop;
    return nullptr;
}

/// A loop with a mask, and how often a block runs it for loops around it that have none.
struct MaskedLoop {
    const Loop* loop = nullptr;
    double times = 1;
};
std::optional<MaskedLoop> first_masked(const RegionProgram& region,
                                       const std::vector<TileStatement>& body, double times) {
    for (const TileStatement& statement : body) {
        std::optional<MaskedLoop> found;
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node))
            found = first_masked(region, parallel->body, times);
        if (const Loop* loop = std::get_if<Loop>(&statement.node)) {
            if (!loop->visible.empty() && loop->level == Level::Block)
                return MaskedLoop{loop, times};
            const std::int64_t extent = region.axes[loop->axis.index()].extent;
            found = first_masked(region, loop->body,
                                 times * static_cast<double>(ceil_quotient(extent, loop->size)));
        }
        if (found) return found;
    }
    return std::nullopt;
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
        if (find_tilings()) counter_.emplace(region_.axes, masks_.back(), tilings_);
        go_to(0);
        if (!counted_visits()) counter_.reset();
        std::int64_t blocks = 1;
        for (const Parallel* group : groups_) blocks = saturating_multiply(blocks, parts(*group));
        const std::int64_t asked = std::min(blocks, most_asked());
        for (std::int64_t i = 0; i < asked; ++i) {
            const std::int64_t first = part_of(blocks, i, asked);
            const std::int64_t count = part_of(blocks, i + 1, asked) - first;
            pattern_.resize(pattern_.size() + static_cast<std::size_t>(count),
                            visits_of(first + one_within(count, i)));
        }
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

    template <class Part>
    [[nodiscard]] std::int64_t parts(const Part& part) const {
        return ceil_quotient(region_.axes[part.axis.index()].extent, part.size);
    }

    /// The finest tiles of groups and loops; false where those of an axis do not divide each other.
    [[nodiscard]] bool find_tilings() {
        const auto add = [&](const auto* part) {
            const auto outer =
                std::find_if(tilings_.begin(), tilings_.end(),
                             [&](const auto& other) { return other.axis == part->axis; });
            if (outer == tilings_.end()) {
                tilings_.push_back({part->axis, part->size});
                return true;
            }
            return std::exchange(outer->size, part->size) % part->size == 0;
        };
        return std::all_of(groups_.begin(), groups_.end(), add) &&
               std::all_of(loops_.begin(), loops_.end(), add);
    }

    /// Blocks that are asked about: each stands for its neighbours where there are more.
    [[nodiscard]] std::int64_t most_asked() const {
        if (counter_) return kMostBlocks;
        std::int64_t chunks = 1;
        for (const index::Tiling& tiling : tilings_)
            if (std::any_of(loops_.begin(), loops_.end(),
                            [&](const Loop* loop) { return loop->axis == tiling.axis; }))
                chunks = saturating_multiply(chunks, parts(tiling));
        return std::clamp(kMostChunks / chunks, kFewestBlocks, kMostBlocks);
    }
    [[nodiscard]] static std::int64_t part_of(std::int64_t blocks, std::int64_t i,
                                              std::int64_t asked) {
        return blocks / asked * i + blocks % asked * i / asked;
    }
    /// Not the same one of all neighbourhoods, which a mask that repeats may make a special one.
    [[nodiscard]] static std::int64_t one_within(std::int64_t count, std::int64_t i) {
        constexpr double kGoldenRatio = 0.6180339887498949;
        const double at = static_cast<double>(i) * kGoldenRatio;
        return static_cast<std::int64_t>((at - std::floor(at)) * static_cast<double>(count));
    }

    void go_to(std::int64_t block) {
        for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
            const auto [axis, size] = std::pair((*group)->axis, (*group)->size);
            const std::int64_t low = block % parts(**group) * size;
            ranges_[axis] = {low, std::min(low + size, region_.axes[axis.index()].extent) - 1};
            block /= parts(**group);
        }
    }
    [[nodiscard]] Visits visits_of(std::int64_t block) {
        go_to(block);
        if (const std::optional<Visits> counted = counted_visits()) return *counted;
        visits_ = {};
        visit_chunks(0);
        return visits_;
    }
    [[nodiscard]] std::optional<Visits> counted_visits() {
        const std::optional<std::int64_t> met = counter_ ? counter_->met(ranges_) : std::nullopt;
        const std::optional<std::int64_t> covered = met ? counter_->covered(ranges_) : met;
        if (!covered) return std::nullopt;
        return Visits{static_cast<double>(*met), static_cast<double>(*met - *covered)};
    }

    void visit_chunks(std::size_t at) {
        const Loop& loop = *loops_[at];
        const auto outer = ranges_.find(loop.axis);
        const bool is_cut_again = outer != ranges_.end();
        const Interval whole =
            is_cut_again ? outer->second : Interval{0, region_.axes[loop.axis.index()].extent - 1};
        halve(at, whole, 0, ceil_quotient(whole.high - whole.low + 1, loop.size));
        if (is_cut_again)
            ranges_[loop.axis] = whole;
        else
            ranges_.erase(loop.axis);
    }

    /// The chunks of a loop from `first` to before `last`: all at once where the mask leaves all
    /// or none of them out, which is to ask far less often than there are chunks.
    void halve(std::size_t at, const Interval& whole, std::int64_t first, std::int64_t last) {
        const Loop& loop = *loops_[at];
        ranges_[loop.axis] = {whole.low + first * loop.size,
                              std::min(whole.low + last * loop.size - 1, whole.high)};
        if (!masks_[at].meets(ranges_)) return;
        const bool is_innermost = at + 1 == loops_.size();
        const bool is_covered = is_innermost && masks_[at].covers(ranges_);
        if (last - first > 1 && !is_covered) {
            const std::int64_t middle = first + (last - first) / 2;
            halve(at, whole, first, middle);
            return halve(at, whole, middle, last);
        }
        if (!is_innermost) return visit_chunks(at + 1);
        visits_.chunks += static_cast<double>(last - first);
        visits_.cut += is_covered ? 0 : 1;
    }

    const RegionProgram& region_;
    Question question_;
    std::vector<const Loop*> loops_;
    std::vector<index::Mask> masks_;  ///< what a chunk of each loop has to meet
    std::vector<const Parallel*> groups_;
    std::vector<index::Tiling> tilings_;
    std::optional<index::VisitCounter> counter_;
    Ranges ranges_;
    Visits visits_;
    std::vector<Visits> pattern_;
};

}  // namespace

std::vector<Visits> pattern_of(const RegionProgram& region) {
    constexpr std::size_t kMost = 64;
    thread_local Recent<Question, std::vector<Visits>> kept(kMost);
    const std::optional<MaskedLoop> found = first_masked(region, region.body, 1);
    if (!found) return {};
    PatternMaker maker(region, *found->loop);
    const std::vector<Visits>* known = kept.find(maker.question());
    std::vector<Visits> pattern =
        known != nullptr ? *known : kept.keep(maker.question(), maker.run());
    for (Visits& visits : pattern)
        visits = {visits.chunks * found->times, visits.cut * found->times};
    return pattern;
}

}  // namespace napkin
