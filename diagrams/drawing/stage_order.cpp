// The order of wires from top to bottom. Arrays enter as they are declared, and results stand near
// what they come from; where that makes wires cross, one array or one result is moved as long as
// fewer cross. An order is laid no further than to where more wires cross than in the best. Of
// orders with as many crossings the declared one stays, so that pictures change little with their
// diagrams, unless wires plunge in it through more others than elsewhere.

#include <algorithm>
#include <map>
#include <set>

#include "diagrams/drawing/stage_builder.h"

namespace napkin::drawing {

namespace {

constexpr std::size_t kMostTried = 300;     // the wires are laid anew for each
constexpr std::size_t kMostLaid = 1000000;  // which takes less than a second
constexpr std::size_t kMostAtOnce = 2;      // that a wire crosses without plunging

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

/// What an order costs; of two that cost as much, the one in which wires plunge less is better.
struct Cost {
    std::size_t crossings = 0;  ///< each further one that a wire crosses at once counts one more
    std::size_t plunges = 0;    ///< wires that one crosses at once beyond two, of all wires
    auto operator<=>(const Cost&) const = default;
};

void add_links(Cost& cost, const Stage& from, const Stage& to) {
    const auto links = links_between(from, to);
    for (const auto& [start, end] : links) {
        std::size_t crossed = 0;
        for (const auto& [other_start, other_end] : links)
            crossed +=
                (start < other_start && end > other_end) || (start > other_start && end < other_end)
                    ? 1
                    : 0;
        cost.crossings += crossed * (crossed + 1) / 2;
        cost.plunges += crossed > kMostAtOnce ? crossed - kMostAtOnce : 0;
    }
}

/// Wires that go on through a cup.
void add_cups(Cost& cost, const Stage& stage) {
    for (const std::vector<std::size_t>& cup : stage.cups)
        for (std::size_t i = cup.front(); i < cup.back(); ++i)
            cost.crossings += stage.tracks[i].dead ? 0 : 2;
}

/// What an order costs, of the stages that there are so far.
class Meter {
public:
    [[nodiscard]] const Cost& read(const StageList& list) {
        for (; read_ < list.stages.size(); ++read_) {
            if (read_ > 0) add_links(cost_, list.stages[read_ - 1], list.stages[read_]);
            add_cups(cost_, list.stages[read_]);
        }
        return cost_;
    }

private:
    Cost cost_;
    std::size_t read_ = 0;
};

std::vector<ArrayId> moved(std::vector<ArrayId> arrays, std::size_t from, std::size_t to) {
    const ArrayId array = arrays[from];
    arrays.erase(arrays.begin() + static_cast<std::ptrdiff_t>(from));
    arrays.insert(arrays.begin() + static_cast<std::ptrdiff_t>(to), array);
    return arrays;
}

/// Tries one change after another and keeps what crosses less.
class Search {
public:
    explicit Search(const Scene& scene) : scene_(scene) {
        best_ = StageBuilder(scene_, order_, Detail::Wires).build();
        cost_ = Meter().read(best_);
    }
    [[nodiscard]] StageOrder run() && {
        repeat([&] {
            move_arrays();
            move_results();
        });
        repeat([&] { move_single_results(); });
        return std::move(order_);
    }

private:
    [[nodiscard]] bool is_over() const {
        return cost_ == Cost{} || tried_.size() >= kMostTried || laid_ >= kMostLaid;
    }
    /// As long as there is something better.
    template <class Pass>
    void repeat(const Pass& pass) {
        for (bool better = true; better;) {
            const Cost before = cost_;
            pass();
            better = cost_ < before && !is_over();
        }
    }
    static bool is_less(const Cost& cost, const Cost& than) { return cost < than; }
    static bool plunges_less(const Cost& cost, const Cost& than) {
        return cost.plunges < than.plunges && cost.crossings <= than.crossings;
    }
    void attempt(StageOrder order, bool (*is_better)(const Cost&, const Cost&) = is_less) {
        if (is_over() || !tried_.insert(order).second) return;
        Meter meter;
        StageList list =
            StageBuilder(scene_, order, Detail::Wires).build([&](const StageList& part) {
                return meter.read(part).crossings <= cost_.crossings;
            });
        for (const Stage& stage : list.stages) laid_ += stage.tracks.size();
        if (!is_better(meter.read(list), cost_)) return;
        cost_ = meter.read(list);
        best_ = std::move(list);
        order_ = std::move(order);
    }
    /// Where results stay, and where they follow.
    void move_arrays() {
        const std::vector<ArrayId> entered = best_.entered;
        for (const bool follow : {false, true})
            for (std::size_t from = 0; from < entered.size(); ++from)
                for (std::size_t to = 0; to < entered.size() && !is_over(); ++to)
                    if (from != to)
                        attempt(
                            {moved(entered, from, to), follow ? StageOrder::Gaps{} : order_.gaps});
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
    /// Where wires plunge, with no other result moving along.
    void move_single_results() {
        for (std::size_t unit = 0; cost_.plunges > 0 && unit < best_.gaps.size(); ++unit)
            for (std::size_t gap = 1; gap <= best_.lives[unit]; ++gap) {
                StageOrder order = order_;
                for (std::size_t other = 0; other < best_.gaps.size(); ++other)
                    order.gaps[other] = other == unit ? gap : best_.gaps[other];
                attempt(std::move(order), plunges_less);
            }
    }

    const Scene& scene_;
    StageList best_;
    StageOrder order_;
    Cost cost_;
    std::set<StageOrder> tried_;
    std::size_t laid_ = 0;  ///< tracks, of all that was tried
};

}  // namespace

StageList build_stages(const Contents& contents, const DrawOptions& options,
                       std::optional<std::size_t> kernel) {
    const Scene scene = scene_of(contents, options, kernel);
    return StageBuilder(scene, Search(scene).run(), Detail::All).build();
}

}  // namespace napkin::drawing
