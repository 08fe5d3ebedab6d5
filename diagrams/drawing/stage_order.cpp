// The order of wires from top to bottom. Arrays enter as they are declared, and results stand near
// what they come from; where that makes wires cross, one array or one result is moved as long as
// fewer cross. Of orders with as many crossings the declared one stays, so that pictures change
// little with their diagrams.

#include <algorithm>
#include <map>
#include <set>

#include "diagrams/drawing/stage_builder.h"

namespace napkin::drawing {

namespace {

constexpr std::size_t kMostTried = 150;  // the wires are laid anew for each
constexpr std::size_t kPlunge = 2;       // what a wire costs more for every further one it crosses

/// Wires from a stage to the next, by their places in the stacks.
std::vector<std::pair<std::size_t, std::size_t>> links_between(const Stage& from, const Stage& to) {
    std::map<Key, std::size_t> places;
    for (std::size_t i = 0; i < from.tracks.size(); ++i)
        if (!from.tracks[i].dead) places[from.tracks[i].key] = i;
    std::vector<std::pair<std::size_t, std::size_t>> links;
    for (std::size_t i = 0; i < to.tracks.size(); ++i)
        for (const Key& source : to.tracks[i].sources)
            if (const auto found = places.find(source); found != places.end())
                links.emplace_back(found->second, i);
    return links;
}

std::size_t cost_between(const Stage& from, const Stage& to) {
    const auto links = links_between(from, to);
    std::size_t cost = 0;
    for (const auto& [start, end] : links) {
        std::size_t crossed = 0;
        for (const auto& [other_start, other_end] : links)
            crossed +=
                (start < other_start && end > other_end) || (start > other_start && end < other_end)
                    ? 1
                    : 0;
        cost += crossed + (crossed > 1 ? kPlunge * (crossed - 1) : 0);
    }
    return cost;
}

/// Wires that go on through a cup.
std::size_t cost_of_cups(const Stage& stage) {
    std::size_t cost = 0;
    for (const std::vector<std::size_t>& cup : stage.cups)
        for (std::size_t i = cup.front(); i < cup.back(); ++i) cost += stage.tracks[i].dead ? 0 : 2;
    return cost;
}

std::size_t cost_of_order(const StageList& list) {
    std::size_t cost = 0;
    for (std::size_t s = 0; s < list.stages.size(); ++s) {
        cost += cost_of_cups(list.stages[s]);
        if (s + 1 < list.stages.size()) cost += cost_between(list.stages[s], list.stages[s + 1]);
    }
    return cost;
}

/// Tries one change after another and keeps what crosses less.
class Search {
public:
    explicit Search(const Scene& scene) : scene_(scene) {
        best_ = build({});
        cost_ = cost_of_order(best_);
    }
    [[nodiscard]] StageOrder run() && {
        for (bool better = true; better;) {
            const std::size_t before = cost_;
            move_arrays();
            move_results();
            better = cost_ < before && tried_.size() < kMostTried;
        }
        return std::move(order_);
    }

private:
    [[nodiscard]] StageList build(const StageOrder& order) const {
        return StageBuilder(scene_, order, Detail::Wires).build();
    }
    void attempt(StageOrder order) {
        if (cost_ == 0 || tried_.size() >= kMostTried || !tried_.insert(order).second) return;
        StageList list = build(order);
        const std::size_t cost = cost_of_order(list);
        if (cost >= cost_) return;
        cost_ = cost;
        best_ = std::move(list);
        order_ = std::move(order);
    }
    void move_arrays() {
        const std::size_t count = best_.entered.size();
        for (std::size_t from = 0; from < count; ++from)
            for (std::size_t to = 0; to < count; ++to) {
                StageOrder order = order_;
                order.entering = best_.entered;
                const ArrayId moved = order.entering[from];
                order.entering.erase(order.entering.begin() + static_cast<std::ptrdiff_t>(from));
                order.entering.insert(order.entering.begin() + static_cast<std::ptrdiff_t>(to),
                                      moved);
                if (order.entering != best_.entered) attempt(std::move(order));
            }
    }
    void move_results() {
        for (std::size_t unit = 0; unit < best_.gaps.size(); ++unit)
            for (std::size_t gap = 1; gap <= best_.lives[unit]; ++gap) {
                if (gap == best_.gaps[unit]) continue;
                StageOrder order = order_;
                order.gaps[unit] = gap;
                attempt(std::move(order));
            }
    }

    const Scene& scene_;
    StageList best_;
    StageOrder order_;
    std::size_t cost_ = 0;
    std::set<StageOrder> tried_;
};

}  // namespace

StageList build_stages(const Diagram& diagram, const Relabelling& relabelling,
                       const DrawOptions& options, std::optional<std::size_t> kernel) {
    const Scene scene = scene_of(diagram, relabelling, options, kernel);
    return StageBuilder(scene, Search(scene).run(), Detail::All).build();
}

}  // namespace napkin::drawing
