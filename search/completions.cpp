#include "search/completions.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "diagrams/contains.h"
#include "search/least_time.h"

namespace napkin {
namespace {

/// Regions that are tiled, and cuts of the diagram between those that are looked at.
constexpr std::size_t kMostTiled = 80;
constexpr std::size_t kMostCutsAhead = 2000;
/// Streams are tried where more room would gain as much.
constexpr double kRoomy = 1.02;
/// Likewise of a fusion where with room enough, or at the least, it would be so much faster.
constexpr double kWorthwhile = 0.95;
/// By how much fusing must be faster for larger regions to be looked at.
constexpr double kFaster = 0.999;

std::vector<std::int64_t> coarse_groups(std::int64_t extent) {
    std::vector<std::int64_t> sizes;
    for (const std::int64_t size : {1, 2, 4, 8, 16, 32, 64, 128, 256})
        if (size < extent) sizes.push_back(size);
    sizes.push_back(extent);
    return sizes;
}

std::vector<std::int64_t> coarse_chunks(std::int64_t extent) {
    std::vector<std::int64_t> sizes;
    for (const std::int64_t size : {256, 128, 64, 32, 16})
        if (size < extent) sizes.push_back(size);
    if (sizes.empty()) sizes.push_back(extent);
    return sizes;
}

/// A stream keeps room where something along the axis is folded.
std::set<AxisId> folded_in(const Diagram& diagram, const Region& region) {
    std::set<AxisId> axes;
    for (const StatementId id : region.statements)
        for (const AxisId axis : folded_axes(diagram[id])) axes.insert(axis);
    return axes;
}

bool is_sooner(const Completion& a, const Completion& b) {
    if (a.seconds != b.seconds) return a.seconds < b.seconds;
    return a.commands < b.commands;
}

void keep_better(const Completion& found, Completion& best) {
    if (is_sooner(found, best)) best = found;
}

}  // namespace

Completions::Completions(const State& state, const Machine& machine,
                         const std::vector<std::size_t>& regions, std::vector<double> seconds)
    : state_(state),
      machine_(machine),
      clock_(machine),
      seconds_(std::move(seconds)),
      graph_(box_graph(state)) {
    const std::optional<Bytes> capacity = machine.capacity(Level::Block);
    capacity_ = capacity ? capacity->value : std::numeric_limits<double>::infinity();
    grow(regions);
    std::vector<BoxSet> sets;
    std::vector<Completion> times;
    for (const Tiled& each : tiled_) {
        sets.push_back(each.set);
        times.push_back(each.best);
    }
    cuts_ = Cuts::of(graph_, sets, kMostCutsAhead);
    std::vector<std::size_t> partition;
    (void)shortest(times, &partition);
    for (const std::size_t set : partition)
        if (sets[set].count() > 1) fusions_.push_back(sets[set]);
}

void Completions::grow(const std::vector<std::size_t>& regions) {
    BoxSet near = graph_.none();
    for (const std::size_t region : regions) {
        near.set(region);
        near |= graph_.beside[region];
    }
    std::set<BoxSet> layer;
    for (std::size_t region = 0; region < graph_.size(); ++region) {
        Tiled one;
        one.set = graph_.none();
        one.set.set(region);
        if (near.test(region)) {
            if (tile(one) && state_.relabelling.regions[region].streams.empty())
                layer.insert(one.set);
        } else {
            one.best = {seconds_[region], 0};
        }
        tiled_.push_back(std::move(one));
    }
    while (!layer.empty()) {
        std::set<BoxSet> next;
        for (const BoxSet& set : layer) {
            BoxSet beside = graph_.none();
            for (std::size_t box = set.find_first(); box != BoxSet::npos; box = set.find_next(box))
                beside |= graph_.beside[box];
            beside = (beside & near) - set;
            for (std::size_t box = beside.find_first(); box != BoxSet::npos;
                 box = beside.find_next(box)) {
                BoxSet larger = set;
                larger.set(box);
                if (state_.relabelling.regions[box].streams.empty() && is_convex(graph_, larger))
                    next.insert(std::move(larger));
            }
        }
        layer.clear();
        for (const BoxSet& set : next) {
            if (tiled_.size() >= graph_.size() + kMostTiled) return;
            Tiled tiled;
            tiled.set = set;
            if (!tile(tiled)) continue;
            if (tiled.best.exists() && !(tiled.best.seconds >= kFaster * fastest_parts(set)))
                layer.insert(set);
            tiled_.push_back(std::move(tiled));
        }
    }
}

std::optional<State> Completions::fused(const BoxSet& set) const {
    if (set.count() == 1) return state_;
    Command fuse;
    fuse.rule = "fuse";
    for (std::size_t box = set.find_first(); box != BoxSet::npos; box = set.find_next(box))
        fuse.names.push_back(region_name(state_.diagram, state_.relabelling.regions[box]));
    Outcome outcome = apply(state_, fuse);
    if (!std::holds_alternative<State>(outcome)) return std::nullopt;
    return std::get<State>(std::move(outcome));
}

/// Whether it can be a region.
bool Completions::tile(Tiled& tiled) {
    const std::optional<State> state = fused(tiled.set);
    if (!state) return false;
    const StatementId first = state_.relabelling.regions[tiled.set.find_first()].statements.front();
    const auto& regions = state->relabelling.regions;
    const Region& region = *std::find_if(regions.begin(), regions.end(), [&](const Region& each) {
        return contains(each.statements, first);
    });
    const std::string name = region_name(state->diagram, region);
    const std::size_t before = tiled.set.count() > 1 ? 1 : 0;
    const auto try_streamed = [&](std::optional<AxisId> streamed) {
        if (const auto space = tiling_space(*state, name, streamed, coarse_groups, coarse_chunks))
            try_space(*space, before, tiled);
    };
    try_streamed(std::nullopt);
    if (!region.streams.empty()) return true;
    // A stream also leaves out chunks that a mask hides.
    if ((tiled.best.seconds <= kRoomy * tiled.roomy || is_hopeless(tiled, *state, region)) &&
        !is_conditional(state->diagram, region))
        return true;
    for (const AxisId axis : folded_in(state->diagram, region)) try_streamed(axis);
    return true;
}

/// Whether no stream makes a fusion worth its while. Streamed, a region may compute less than it
/// does whole: of a softmax each exponential once.
bool Completions::is_hopeless(const Tiled& tiled, const State& state, const Region& region) const {
    if (tiled.set.count() == 1) return false;
    const double worthwhile = kWorthwhile * fastest_parts(tiled.set);
    if (tiled.roomy <= worthwhile) return false;
    const std::optional<Seconds> least = least_time(state, region, machine_);
    return !least || least->value > worthwhile;
}

void Completions::try_space(const TilingSpace& space, std::size_t before, Tiled& tiled) const {
    const std::vector<SizeChoice>& choices = space.choices;
    PreparedCost cost(space.program, space.lists(), MaskCounts::Mean);
    std::vector<std::vector<Completion>> with;
    for (const SizeChoice& choice : choices) with.emplace_back(choice.sizes.size());
    std::vector<std::size_t> picks(choices.size(), 0);
    while (true) {
        const double held = cost.held_bits(picks) / 8;
        const double seconds = clock_.middle_of(cost.work(picks)).value;
        tiled.roomy = std::min(tiled.roomy, seconds);
        if (held <= capacity_) {
            Completion found{seconds, before};
            for (std::size_t k = 0; k < choices.size(); ++k)
                found.commands += choices[k].commands(state_.diagram, picks[k]);
            keep_better(found, tiled.best);
            for (std::size_t k = 0; k < choices.size(); ++k) keep_better(found, with[k][picks[k]]);
        }
        std::size_t at = 0;
        while (at < picks.size() && ++picks[at] == choices[at].sizes.size()) picks[at++] = 0;
        if (at == picks.size()) break;
    }
    for (std::size_t k = 0; k < choices.size(); ++k)
        for (std::size_t size = 0; size < with[k].size(); ++size)
            keep_better(with[k][size], tiled.with[{choices[k].symbol(), choices[k].sizes[size]}]);
}

/// Seconds of the fastest two regions that a set falls into.
double Completions::fastest_parts(const BoxSet& set) const {
    double fastest = std::numeric_limits<double>::infinity();
    for (const Tiled& part : tiled_)
        if (part.set.is_proper_subset_of(set))
            for (const Tiled& rest : tiled_)
                if (rest.set == set - part.set)
                    fastest = std::min(fastest, part.best.seconds + rest.best.seconds);
    return fastest;
}

Completion Completions::shortest(const std::vector<Completion>& of_sets,
                                 std::vector<std::size_t>* partition) const {
    if (!cuts_) return {};
    std::vector<double> times;
    for (const Completion& each : of_sets) times.push_back(each.seconds);
    const std::optional<std::vector<std::size_t>> path = cuts_->shortest(times);
    if (!path) return {};
    Completion total{0, 0};
    for (const std::size_t set : *path) {
        total.seconds += of_sets[set].seconds;
        total.commands += of_sets[set].commands;
    }
    if (partition != nullptr) *partition = *path;
    return total;
}

Completion Completions::after_fusion(const BoxSet& regions) const {
    const auto is_it = [&](const Tiled& each) { return each.set == regions; };
    if (std::none_of(tiled_.begin(), tiled_.end(), is_it)) return {};
    std::vector<Completion> times;
    for (const Tiled& each : tiled_) {
        times.push_back(each.best);
        if (!regions.is_subset_of(each.set) && regions.intersects(each.set)) times.back() = {};
        if (regions == each.set && times.back().commands > 0) --times.back().commands;
    }
    return shortest(times);
}

Completion Completions::after_tile(std::size_t region, Symbol symbol, std::int64_t size) const {
    std::vector<Completion> times;
    for (const Tiled& each : tiled_) {
        times.push_back(each.best);
        if (!each.set.test(region)) continue;
        if (each.set.count() == 1 && !each.with.contains({symbol, size})) return {};
        const auto found = each.with.find({symbol, size});
        const bool stays = symbol.kind != SymbolKind::Stream || each.set.count() == 1;
        times.back() = found != each.with.end() && stays ? found->second : Completion{};
        if (times.back().commands > 0) --times.back().commands;
    }
    return shortest(times);
}

}  // namespace napkin
