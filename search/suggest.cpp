#include "search/suggest.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "derive/tile_program.h"
#include "perfmodel/block_time.h"
#include "perfmodel/cost.h"
#include "perfmodel/kernel_work.h"
#include "perfmodel/memory_cost.h"
#include "perfmodel/time.h"
#include "search/completions.h"
#include "search/kernels.h"

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

/// What a move leads to at best.
struct Prospect {
    double gain = 0;  ///< how many times faster than the state; 0 where nothing is known to fit
    std::size_t commands = 0;  ///< that follow
    [[nodiscard]] bool exists() const { return gain > 0; }
};

struct Proposal {
    Move move;
    Prospect prospect;
    std::optional<State> state;
    Quick quick;  ///< of the state, where there is one
};

/// What fits first, then what saves most time, then transfers.
bool saves_more(const Proposal& a, const Proposal& b) {
    if (a.quick.fits != b.quick.fits) return a.quick.fits;
    if (a.quick.time() != b.quick.time()) return a.quick.time() < b.quick.time();
    return a.quick.transferred < b.quick.transferred;
}

/// What may end fastest first, with fewest commands to go; of moves that are not known to end, what
/// saves most at once. Times that hardly differ are alike.
bool leads_further(const Proposal& a, const Proposal& b) {
    constexpr double kAlike = 0.002;
    const auto place = [](const Prospect& each) {
        return std::round(std::log(each.gain) / kAlike);
    };
    if (place(a.prospect) != place(b.prospect)) return place(a.prospect) > place(b.prospect);
    if (a.prospect.commands != b.prospect.commands)
        return a.prospect.commands < b.prospect.commands;
    return !a.prospect.exists() && saves_more(a, b);
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

/// Moves are sought where the time goes, in so many regions; what follows them in fewer.
constexpr std::size_t kMostSought = 6;
constexpr std::size_t kMostAhead = 3;

/// So much faster is a move that is worth taking.
constexpr double kNoticed = 1.005;

/// Variants of a family that are looked at where it is not known what follows.
constexpr std::size_t kMostVariants = 5;

/// Costs regions, each once: a move leaves most of them as they were.
class Scout {
public:
    Scout(const State& now, const Machine& machine)
        : now_(now), machine_(machine), clock_(machine), request_(kernels_for(machine, "")) {}

    /// As good schedules would make the kernels, or as they are made.
    Result<Quick> quick(const State& state, bool as_made = false) {
        Quick total;
        std::list<Known>& known = known_for(state);
        for (const Region& region : state.relabelling.regions) {
            const Result<Known*> part = costed(known, state, region);
            if (!part) return part.error();
            const Quick& figures = as_made ? made(**part) : (*part)->quick;
            total.transferred += figures.transferred;
            total.held = std::max(total.held, figures.held);
            total.time_low += figures.time_low;
            total.time_high += figures.time_high;
            total.fits = total.fits && figures.fits;
        }
        return total;
    }

    /// How long each region takes, in seconds.
    std::vector<double> seconds(const State& state) {
        std::vector<double> seconds;
        std::list<Known>& known = known_for(state);
        for (const Region& region : state.relabelling.regions) {
            const Result<Known*> part = costed(known, state, region);
            seconds.push_back(part ? (*part)->quick.time() / 2 : 0);
        }
        return seconds;
    }

    /// With M.
    Result<MoveFigures> figures(const State& state) {
        MoveFigures total;
        std::list<Known>& known = known_for(state);
        for (const Region& region : state.relabelling.regions) {
            const Result<Known*> part = costed(known, state, region);
            if (!part) return part.error();
            const Quick& figures = made(**part);
            const auto memory = memory_bits((*part)->program, Level::Block);
            total.transferred += figures.transferred;
            if (memory)
                total.memory = std::max(total.memory, std::ceil(static_cast<double>(*memory) / 8));
            total.time_low += figures.time_low;
            total.time_high += figures.time_high;
            total.fits = total.fits && figures.fits;
        }
        return total;
    }
    [[nodiscard]] const std::string& target() const { return request_.target; }

private:
    struct Known {
        Region region;
        RegionProgram program;
        Quick quick;
        std::optional<Quick> made;  ///< where it was asked for
    };

    [[nodiscard]] Quick quick_of(const RegionCost& cost) const {
        const BlockClock::Times time =
            clock_.interval_of(cost.work ? *cost.work : general_work(cost));
        const LevelCost& block = cost.levels.at(Level::Block);
        return {static_cast<double>(block.transferred.bytes()),
                static_cast<double>(block.allocated.bytes()), time.low, time.high,
                excesses_of(cost, machine_).empty() && !(cost.work && cost.work->spills())};
    }

    /// With the kernel that is made of a region where one is that fits.
    const Quick& made(Known& known) const {
        if (known.made) return *known.made;
        known.made = known.quick;
        Result<RegionCost> cost = quick_cost_of(known.program);
        if (!cost || request_.target.empty()) return *known.made;
        add_work(known.program, request_, *cost);
        known.made = quick_of(*cost);
        return *known.made;
    }

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
        known.push_back({region, std::move(program).value(), quick_of(*cost), {}});
        return &known.back();
    }

    const State& now_;
    const Machine& machine_;
    BlockClock clock_;
    KernelRequest request_;
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

/// The regions that take longest, in their own order.
std::vector<std::size_t> slowest(const std::vector<double>& seconds, std::size_t most) {
    std::vector<std::size_t> regions(seconds.size());
    std::iota(regions.begin(), regions.end(), std::size_t{0});
    std::stable_sort(regions.begin(), regions.end(),
                     [&](std::size_t a, std::size_t b) { return seconds[a] > seconds[b]; });
    regions.resize(std::min(regions.size(), most));
    std::sort(regions.begin(), regions.end());
    return regions;
}

/// What moves lead to: a fusion, a group or a stream to what follows it, anything else to what it
/// saves as it stands.
class Foresight {
public:
    Foresight(const State& state, const Machine& machine, const std::vector<std::size_t>& regions,
              const std::vector<double>& seconds, const Quick& now)
        : state_(state),
          seconds_(std::min(std::accumulate(seconds.begin(), seconds.end(), 0.0), now.time() / 2)),
          completions_(state, machine, regions, seconds) {}

    /// The fusions of the best completion.
    [[nodiscard]] std::vector<Move> fusions() const {
        std::vector<Move> moves;
        for (const BoxSet& set : completions_.fusions()) {
            Command fuse;
            fuse.rule = "fuse";
            for (std::size_t at = set.find_first(); at != BoxSet::npos; at = set.find_next(at))
                fuse.names.push_back(region_name(state_.diagram, state_.relabelling.regions[at]));
            moves.push_back({std::move(fuse)});
        }
        return moves;
    }
    [[nodiscard]] Prospect after(const Move& move) const {
        if (move.size() != 1) return {};
        const Command& command = move.front();
        if (command.rule == "fuse") return gain_of(completions_.after_fusion(fused(command)));
        const bool is_stream = command.rule == "stream";
        if ((command.rule != "group" && !is_stream) || command.at != "l1") return {};
        const auto axis = find_axis(state_.diagram, command.names.front());
        const auto region = command.in.empty() ? std::size_t{0} : place_of(command.in);
        if (!axis || !command.size) return {};
        const Symbol symbol =
            is_stream ? stream_size(*axis, Level::Block) : group_size(*axis, Level::Block);
        return gain_of(completions_.after_tile(region, symbol, *command.size));
    }

private:
    [[nodiscard]] Prospect gain_of(const Completion& completion) const {
        if (!completion.exists()) return {};
        return {seconds_ / completion.seconds, completion.commands};
    }
    [[nodiscard]] std::size_t place_of(const std::string& region) const {
        const auto found = find_region(state_, region);
        invariant(std::holds_alternative<std::size_t>(found), "a move in no region");
        return std::get<std::size_t>(found);
    }
    [[nodiscard]] BoxSet fused(const Command& command) const {
        BoxSet set(state_.relabelling.regions.size());
        if (command.names.front() == "all") return set.set();
        for (const std::string& name : command.names) set.set(place_of(name));
        return set;
    }

    const State& state_;
    double seconds_;  ///< of the state, as it is made or would be by a good schedule
    Completions completions_;
};

/// The variant that leads furthest, the largest of equals.
std::pair<Prospect, const Move*> furthest(const MoveFamily& family, const Foresight& foresight) {
    std::pair<Prospect, const Move*> best;
    for (const Move& move : family.variants) {
        const Prospect found = foresight.after(move);
        const bool is_larger = found.exists() && found.gain == best.first.gain &&
                               move.front().size > best.second->front().size;
        if (found.gain > best.first.gain || is_larger) best = {found, &move};
    }
    return best;
}

/// A move of which more is known than what it saves. From a state that fits, kernels are known:
/// where nothing follows the move, or they lose more by it than what follows promises, it leads to
/// what is made of it.
Proposal foreseen(const Move& move, Prospect prospect, const State& state, const Quick& now,
                  Scout& scout) {
    if (!now.fits) return {move, prospect, std::nullopt, {}};
    Proposal proposal{move, prospect, after(state, move), {}};
    if (!proposal.state) return proposal;
    const Result<Quick> next = scout.quick(*proposal.state, true);
    if (!next) return proposal;
    proposal.quick = *next;
    if (prospect.commands == 0 || next->time() > prospect.gain * now.time())
        proposal.prospect.gain = next->fits ? now.time() / next->time() : 0;
    return proposal;
}

/// The best of a family, where there is one; a refusal that is worth telling is noted.
std::optional<Proposal> best_of(const MoveFamily& family, const State& state, const Quick& now,
                                const Foresight& foresight, Scout& scout,
                                std::vector<Refusal>& refused) {
    if (!family.must_help)
        if (const auto [prospect, move] = furthest(family, foresight); prospect.exists())
            return foreseen(*move, prospect, state, now, scout);
    std::optional<Proposal> best;
    std::optional<Quick> last;
    for (const Move& move :
         std::span(family.variants).first(std::min(family.variants.size(), kMostVariants))) {
        Outcome outcome = apply_move(state, move);
        if (const NotApplicable* refusal = std::get_if<NotApplicable>(&outcome)) {
            if (family.tells_why_not) refused.push_back({move, refusal->reason});
            break;  // other sizes are refused alike
        }
        State& next = std::get<State>(outcome);
        const Result<Quick> quick = scout.quick(next, true);
        if (!quick) continue;
        // Chunks of other sizes move as much and take as long, but where a mask skips some.
        if (last && last->fits == quick->fits && last->time() == quick->time() &&
            last->transferred == quick->transferred && last->held <= quick->held)
            break;
        last = *quick;
        if (family.must_help && !helps(*quick, now)) continue;
        Proposal candidate{
            move, {quick->fits ? now.time() / quick->time() : 0, 0}, std::move(next), *quick};
        if (!best || better(candidate, *best)) best = std::move(candidate);
    }
    return best;
}

/// Moves from here, with the fusions of the best completion where they are of more than two.
std::vector<MoveFamily> families(const State& state, const std::vector<std::size_t>& regions,
                                 const Foresight& foresight) {
    std::vector<MoveFamily> all = moves_from(state, regions);
    for (Move& move : foresight.fusions())
        if (move.front().names.size() > 2 &&
            move.front().names.size() < state.relabelling.regions.size())
            all.insert(all.begin(), {{std::move(move)}, false, false});
    return all;
}

}  // namespace

Result<Suggestions> suggest(const State& state, const Machine& machine, std::size_t top) {
    Scout scout(state, machine);
    const Result<Quick> now = scout.quick(state, true);
    if (!now) return now.error();
    const std::vector<double> seconds = scout.seconds(state);
    const std::vector<std::size_t> regions = slowest(seconds, kMostSought);
    const Foresight foresight(state, machine, slowest(seconds, kMostAhead), seconds, *now);
    Suggestions suggestions;
    suggestions.target = scout.target();
    std::vector<Proposal> candidates;
    const auto look_at = [&](const std::vector<MoveFamily>& all) {
        for (const MoveFamily& family : all)
            if (auto best = best_of(family, state, *now, foresight, scout, suggestions.refused))
                candidates.push_back(std::move(*best));
    };
    look_at(families(state, regions, foresight));
    // Where no size of one tile is better, room for one may be had from another.
    if (now->fits && std::none_of(candidates.begin(), candidates.end(), [](const Proposal& each) {
            return each.prospect.gain > kNoticed;
        }))
        look_at(trades_from(state, regions));
    std::stable_sort(candidates.begin(), candidates.end(), leads_further);
    suggestions.unshown = candidates.size() - std::min(candidates.size(), top);
    candidates.resize(candidates.size() - suggestions.unshown);
    const Result<MoveFigures> figures = scout.figures(state);
    if (!figures) return figures.error();
    suggestions.now = *figures;
    for (Proposal& candidate : candidates) {
        if (!candidate.state) candidate.state = after(state, candidate.move);
        if (!candidate.state) continue;
        const Result<MoveFigures> found = scout.figures(*candidate.state);
        if (!found) return found.error();
        suggestions.legal.push_back({std::move(candidate.move), *found, candidate.prospect.gain});
    }
    return suggestions;
}

}  // namespace napkin
