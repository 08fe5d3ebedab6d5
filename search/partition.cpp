#include "search/partition.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace napkin {
namespace {

/// For every box what regions with it need; beside the whole stands no other.
std::vector<BoxSet> needs_of(const BoxGraph& graph, const std::vector<BoxSet>& sets) {
    std::vector<BoxSet> needs(graph.size(), graph.none());
    for (const BoxSet& set : sets) {
        if (set.all()) continue;
        BoxSet before = graph.none();
        for (std::size_t box = set.find_first(); box != BoxSet::npos; box = set.find_next(box))
            before |= graph.before[box];
        for (std::size_t box = set.find_first(); box != BoxSet::npos; box = set.find_next(box))
            needs[box] |= before;
    }
    return needs;
}

bool can_run(const BoxGraph& graph, const BoxSet& set, const BoxSet& done) {
    if (set.intersects(done)) return false;
    for (std::size_t box = set.find_first(); box != BoxSet::npos; box = set.find_next(box))
        if (!graph.before[box].is_subset_of(done | set)) return false;
    return true;
}

}  // namespace

std::optional<Cuts> Cuts::of(const BoxGraph& graph, const std::vector<BoxSet>& sets,
                             std::size_t most) {
    const std::vector<BoxSet> needs = needs_of(graph, sets);
    std::vector<std::vector<std::size_t>> leading(graph.size());
    for (std::size_t first = 0; first < graph.size(); ++first)
        for (std::size_t k = 0; k < sets.size(); ++k)
            if (sets[k].test(first) || sets[k].intersects(needs[first]))
                leading[first].push_back(k);
    Cuts cuts;
    std::map<BoxSet, std::size_t> known{{graph.none(), 0}};
    std::vector<BoxSet> all{graph.none()};
    for (std::size_t at = 0; at < all.size(); ++at) {
        if (all.size() > most) return std::nullopt;
        cuts.steps_.emplace_back();
        const BoxSet done = all[at];
        const std::size_t first = (~done).find_first();
        if (first == BoxSet::npos) continue;
        for (const std::size_t k : leading[first]) {
            if (!can_run(graph, sets[k], done)) continue;
            const auto [next, is_new] = known.try_emplace(done | sets[k], all.size());
            if (is_new) all.push_back(next->first);
            cuts.steps_.back().push_back({k, next->second});
        }
    }
    // Cuts in rising order of what has run, so that steps lead on.
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return all[a].count() < all[b].count(); });
    std::vector<std::size_t> place(all.size());
    for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = k;
    std::vector<std::vector<Step>> sorted(all.size());
    for (std::size_t k = 0; k < all.size(); ++k) {
        for (Step& step : cuts.steps_[k]) step.to = place[step.to];
        sorted[place[k]] = std::move(cuts.steps_[k]);
    }
    cuts.steps_ = std::move(sorted);
    return cuts;
}

std::optional<std::vector<std::size_t>> Cuts::shortest(const std::vector<double>& times) const {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    std::vector<double> rest(steps_.size(), kNever);
    std::vector<const Step*> best(steps_.size(), nullptr);
    rest.back() = 0;
    for (std::size_t at = steps_.size() - 1; at-- > 0;)
        for (const Step& step : steps_[at])
            if (const double time = times[step.set] + rest[step.to]; time < rest[at]) {
                rest[at] = time;
                best[at] = &step;
            }
    if (rest.front() == kNever) return std::nullopt;
    std::vector<std::size_t> path;
    for (std::size_t at = 0; best[at] != nullptr; at = best[at]->to) path.push_back(best[at]->set);
    return path;
}

}  // namespace napkin
