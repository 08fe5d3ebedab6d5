#include "search/suggest.h"

#include <algorithm>
#include <list>
#include <optional>
#include <utility>

#include "derive/tile_program.h"
#include "perfmodel/cost.h"
#include "perfmodel/time.h"

namespace napkin {
namespace {

/// What ranking needs, in numbers.
struct Quick {
    double transferred = 0;
    double held = 0;  ///< A at block level, bytes: the most of any region
    double time_low = 0;
    double time_high = 0;
    bool fits = true;
    [[nodiscard]] double time() const { return time_low + time_high; }
};

struct Proposal {
    Move move;
    State state;
    Quick quick;
};

/// What fits first, then what saves most time, then transfers.
bool saves_more(const Proposal& a, const Proposal& b) {
    if (a.quick.fits != b.quick.fits) return a.quick.fits;
    if (a.quick.time() != b.quick.time()) return a.quick.time() < b.quick.time();
    return a.quick.transferred < b.quick.transferred;
}

/// Which size of one family to show: while nothing fits, the one that needs least memory.
bool better(const Proposal& a, const Proposal& b) {
    if (!a.quick.fits && !b.quick.fits && a.quick.held != b.quick.held)
        return a.quick.held < b.quick.held;
    return saves_more(a, b);
}

/// Whether a move gains something by itself: room where there is too little, time, or transfers in
/// the same time.
bool helps(const Quick& next, const Quick& now) {
    constexpr double kLess = 0.999;
    if (next.fits != now.fits) return next.fits;
    if (!now.fits) return next.held < kLess * now.held;
    if (next.time() < kLess * now.time()) return true;
    return next.time() <= now.time() && next.transferred < kLess * now.transferred;
}

/// Moves are sought where the time goes: in so many regions.
constexpr std::size_t kMostRegions = 6;

/// Costs regions, each once: a move leaves most of them as they were.
class Scout {
public:
    Scout(const State& now, const Machine& machine) : now_(now), machine_(machine) {}

    Result<Quick> quick(const State& state) {
        Quick total;
        std::list<Known>& known = known_for(state);
        for (const Region& region : state.relabelling.regions) {
            const Result<Known*> part = costed(known, state, region);
            if (!part) return part.error();
            const Quick& figures = (*part)->quick;
            total.transferred += figures.transferred;
            total.held = std::max(total.held, figures.held);
            total.time_low += figures.time_low;
            total.time_high += figures.time_high;
            total.fits = total.fits && figures.fits;
        }
        return total;
    }

    /// The regions that take longest, in their own order.
    std::vector<std::size_t> slowest(const State& state) {
        std::vector<std::pair<double, std::size_t>> times;
        std::list<Known>& known = known_for(state);
        for (std::size_t at = 0; at < state.relabelling.regions.size(); ++at)
            if (const auto part = costed(known, state, state.relabelling.regions[at]))
                times.emplace_back(-(*part)->quick.time(), at);
        std::sort(times.begin(), times.end());
        times.resize(std::min(times.size(), kMostRegions));
        std::vector<std::size_t> regions;
        for (const auto& [time, at] : times) regions.push_back(at);
        std::sort(regions.begin(), regions.end());
        return regions;
    }

    /// With M and the levels within a block, which takes longer.
    Result<MoveFigures> figures(const State& state) {
        MoveFigures total;
        std::list<Known>& known = known_for(state);
        for (const Region& region : state.relabelling.regions) {
            const Result<Known*> part = costed(known, state, region);
            if (!part) return part.error();
            std::optional<RegionCost>& cost = (*part)->cost;
            if (!cost) {
                Result<RegionCost> full = cost_of((*part)->program);
                if (!full) return full.error();
                cost = std::move(full).value();
            }
            const Quick& figures = (*part)->quick;
            const Amount& memory = cost->levels.at(Level::Block).memory;
            total.transferred += figures.transferred;
            total.memory = std::max(total.memory, static_cast<double>(memory.bytes()));
            total.time_low += figures.time_low;
            total.time_high += figures.time_high;
            total.fits = total.fits && excesses_of(*cost, machine_).empty();
        }
        return total;
    }

private:
    struct Known {
        Region region;
        RegionProgram program;
        Quick quick;
        std::optional<RegionCost> cost;  ///< where it was asked for
    };

    /// Regions of the same diagram are remembered, those of another one only while it is looked at.
    std::list<Known>& known_for(const State& state) {
        if (state.diagram == now_.diagram) return known_;
        others_.clear();
        return others_;
    }

    /// Whether a region of a rewritten diagram is one that is known of the diagram as it is: it has
    /// the same statements and tiles, and saves the same.
    [[nodiscard]] bool is_left_alone(const State& state, const Region& region,
                                     const Region& known) const {
        if (region.groups != known.groups || region.streams != known.streams ||
            region.statements.size() != known.statements.size())
            return false;
        const auto type_of = [](const State& of, ArrayId array) {
            const auto found = of.relabelling.wire_types.find(array);
            return std::pair(of.diagram[array], found == of.relabelling.wire_types.end()
                                                    ? of.diagram[array].type
                                                    : found->second);
        };
        const auto place_of = [](const State& of, StatementId id) {
            const auto found = of.relabelling.places.find(id);
            return found == of.relabelling.places.end() ? Place{} : found->second;
        };
        for (std::size_t i = 0; i < region.statements.size(); ++i) {
            const Statement& there = state.diagram[region.statements[i]];
            const Statement& here = now_.diagram[known.statements[i]];
            if (there.targets != here.targets || there.body != here.body ||
                place_of(state, region.statements[i]) != place_of(now_, known.statements[i]))
                return false;
            std::vector<ArrayId> arrays = inputs_of(here);
            arrays.insert(arrays.end(), here.targets.begin(), here.targets.end());
            for (const ArrayId array : arrays)
                if (type_of(state, array) != type_of(now_, array)) return false;
        }
        return saves_of(state.diagram, region) == saves_of(now_.diagram, known);
    }

    Result<Known*> costed(std::list<Known>& known, const State& state, const Region& region) {
        for (Known& each : known)
            if (each.region == region) return &each;
        const std::vector<Axis>& axes = now_.diagram.axes;
        if (&known == &others_ && state.diagram.axes.size() >= axes.size() &&
            std::equal(axes.begin(), axes.end(), state.diagram.axes.begin()))
            for (Known& each : known_)
                if (is_left_alone(state, region, each.region)) return &each;
        Result<RegionProgram> program = expand(state, region, OpaqueBoxes::Keep);
        if (!program) return program.error();
        const Result<RegionCost> cost = quick_cost_of(*program);
        if (!cost) return cost.error();
        const TimeEstimate time = time_of(*cost, machine_);
        const LevelCost& block = cost->levels.at(Level::Block);
        const Quick quick{static_cast<double>(block.transferred.bytes()),
                          static_cast<double>(block.allocated.bytes()), time.low.value,
                          time.high.value, excesses_of(*cost, machine_).empty()};
        known.push_back({region, std::move(program).value(), quick, std::nullopt});
        return &known.back();
    }

    const State& now_;
    const Machine& machine_;
    std::list<Known> known_;
    std::list<Known> others_;
};

Outcome apply_move(const State& state, const Move& move) {
    Outcome outcome = apply(state, move.front());
    for (std::size_t i = 1; i < move.size(); ++i) {
        const State* next = std::get_if<State>(&outcome);
        if (next == nullptr) return outcome;
        outcome = Outcome(apply(*next, move[i]));
    }
    return outcome;
}

/// The best of a family, where there is one; a refusal that is worth telling is noted.
std::optional<Proposal> best_of(const MoveFamily& family, const State& state, const Quick& now,
                                Scout& scout, std::vector<Refusal>& refused) {
    std::optional<Proposal> best;
    std::optional<Quick> last;
    for (const Move& move : family.variants) {
        Outcome outcome = apply_move(state, move);
        if (const NotApplicable* refusal = std::get_if<NotApplicable>(&outcome)) {
            if (family.tells_why_not && &move == &family.variants.front())
                refused.push_back({move, refusal->reason});
            continue;
        }
        State& next = std::get<State>(outcome);
        const Result<Quick> quick = scout.quick(next);
        if (!quick) continue;
        // Chunks of other sizes move as much and take as long, but where a mask skips some.
        if (last && last->fits == quick->fits && last->time() == quick->time() &&
            last->transferred == quick->transferred && last->held <= quick->held)
            break;
        last = *quick;
        if (family.must_help && !helps(*quick, now)) continue;
        Proposal candidate{move, std::move(next), *quick};
        if (!best || better(candidate, *best)) best = std::move(candidate);
    }
    return best;
}

}  // namespace

Result<Suggestions> suggest(const State& state, const Machine& machine, std::size_t top) {
    Scout scout(state, machine);
    const Result<Quick> now = scout.quick(state);
    if (!now) return now.error();
    Suggestions suggestions;
    std::vector<Proposal> candidates;
    for (const MoveFamily& family : moves_from(state, scout.slowest(state)))
        if (auto best = best_of(family, state, *now, scout, suggestions.refused))
            candidates.push_back(std::move(*best));
    std::stable_sort(candidates.begin(), candidates.end(), saves_more);
    suggestions.unshown = candidates.size() - std::min(candidates.size(), top);
    candidates.resize(candidates.size() - suggestions.unshown);
    const Result<MoveFigures> figures = scout.figures(state);
    if (!figures) return figures.error();
    suggestions.now = *figures;
    for (Proposal& candidate : candidates) {
        const Result<MoveFigures> found = scout.figures(candidate.state);
        if (!found) return found.error();
        suggestions.legal.push_back({std::move(candidate.move), *found});
    }
    return suggestions;
}

}  // namespace napkin
