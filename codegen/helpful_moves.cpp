// What makes a region fit. Where it has no plan for the tensor core, the shortest way of moves that
// the planner proposes is looked for. Where its tiles are too large, the move that leaves least of
// them is made, again and again: chunks, which load nothing twice, before groups.
#include "codegen/helpful_moves.h"

#include <algorithm>
#include <optional>
#include <set>

#include "schedule/moves.h"
#include "schedule/schedule.h"

namespace napkin {
namespace {

/// Longer ways are no help, and looking for them takes time.
constexpr std::size_t kMostMoves = 4;
constexpr int kMostTrials = 60;
/// Chunks and groups that are larger are made so large first, and halved from there.
constexpr std::int64_t kFirstSize = 64;

/// A state, and the moves that lead there.
struct Way {
    State end;
    std::vector<Command> moves;
};

/// The way and a move, after what must be undone for it.
std::optional<Way> with_move(const Way& way, const Command& move) {
    for (const char* undo : {"", "ungroup", "unstream"}) {
        Way longer = way;
        if (*undo != 0) {
            Command first = move;
            first.rule = undo;
            first.size.reset();
            Outcome undone = apply(longer.end, first);
            if (!std::holds_alternative<State>(undone)) continue;
            longer = {std::get<State>(std::move(undone)), std::move(longer.moves)};
            longer.moves.push_back(first);
        }
        Outcome next = apply(longer.end, move);
        State* done = std::get_if<State>(&next);
        if (done == nullptr || done->relabelling == way.end.relabelling) continue;
        longer.moves.push_back(move);
        return Way{std::move(*done), std::move(longer.moves)};
    }
    return std::nullopt;
}

/// Whether the moves lead from the state to the same regions.
bool lead_to(State state, const std::vector<Command>& moves, const Relabelling& end) {
    for (const Command& move : moves) {
        Outcome next = apply(state, move);
        if (!std::holds_alternative<State>(next)) return false;
        state = std::get<State>(std::move(next));
    }
    return state.relabelling == end;
}

/// The moves without those that later ones undo.
std::vector<Command> without_detours(const State& start, const Way& way) {
    std::vector<Command> moves = way.moves;
    const auto shorten = [&] {
        for (std::size_t first = 0; first < moves.size(); ++first)
            for (std::size_t second = first; second < moves.size(); ++second) {
                std::vector<Command> fewer = moves;
                fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(second));
                if (second > first) fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(first));
                if (!lead_to(start, fewer, way.end.relabelling)) continue;
                moves = std::move(fewer);
                return true;
            }
        return false;
    };
    while (shorten()) {
    }
    return moves;
}

const RegionProgram* find_region(const TileProgram& program, const std::string& name) {
    const auto region = std::find_if(program.regions.begin(), program.regions.end(),
                                     [&](const RegionProgram& r) { return r.name == name; });
    return region == program.regions.end() ? nullptr : &*region;
}

/// The shortest way to a plan of the tensor core.
class PlanFinder {
public:
    PlanFinder(std::string region, const EmitOptions& options)
        : region_(std::move(region)), options_(options) {}

    std::optional<Way> find(const State& state) {
        for (std::size_t depth = 0; depth <= kMostMoves; ++depth)
            if (std::optional<Way> way = find({state, {}}, depth)) return way;
        return std::nullopt;
    }

private:
    std::optional<Way> find(const Way& way, std::size_t depth) {
        const Result<TileProgram> program = expand(way.end);
        if (!program || --trials_ < 0) return std::nullopt;
        const RegionProgram* region = find_region(*program, region_);
        if (region == nullptr) return std::nullopt;
        const RegionProgram simpler = schedule::simplified(*region);
        if (schedule::has_plan(simpler, options_.limits())) return way;
        if (depth == 0) return std::nullopt;
        for (Command& move : schedule::proposed_moves(simpler, options_.limits())) {
            if (program->regions.size() > 1) move.in = region_;
            const std::optional<Way> next = with_move(way, move);
            if (!next) continue;
            if (std::optional<Way> found = find(*next, depth - 1)) return found;
        }
        return std::nullopt;
    }

    std::string region_;
    const EmitOptions& options_;
    int trials_ = kMostTrials;
};

/// So many elements of an axis a block of the region holds at once.
std::int64_t held_size(const Diagram& diagram, const Region& region, AxisId axis) {
    std::int64_t held = diagram[axis].extent;
    for (const Group& group : region.groups)
        if (group.axis == axis && group.level <= Level::Block) held = std::min(held, group.size);
    for (const Stream& stream : region.streams)
        if (stream.axis == axis && stream.level <= Level::Block) held = std::min(held, stream.size);
    return held;
}

/// Smaller tiles of every axis: chunks of what is folded, groups of what is saved, then chunks of
/// that.
std::vector<Command> smaller_tiles(const State& state, const std::string& name) {
    const Diagram& diagram = state.diagram;
    std::vector<Command> moves;
    for (const Region& region : state.relabelling.regions) {
        if (region_name(diagram, region) != name) continue;
        std::set<AxisId> saved;
        for (const ArrayId array : saves_of(diagram, region))
            saved.insert(diagram[array].axes.begin(), diagram[array].axes.end());
        const auto add = [&](const char* rule, bool is_saved) {
            for (std::uint32_t axis = 0; axis < diagram.axes.size(); ++axis) {
                std::int64_t size = kFirstSize;
                while (size >= held_size(diagram, region, AxisId{axis})) size /= 2;
                if (size == 0 || saved.contains(AxisId{axis}) != is_saved) continue;
                Command move;
                move.rule = rule;
                move.names = {diagram.axes[axis].name};
                move.size = size;
                move.at = "l1";
                if (state.relabelling.regions.size() > 1) move.in = name;
                moves.push_back(std::move(move));
            }
        };
        add("stream", false);
        add("group", true);
        add("stream", true);
    }
    return moves;
}

/// The way on to tiles that fit.
std::optional<Way> to_smaller_tiles(Way way, const std::string& region, std::int64_t most,
                                    const Need& need) {
    std::optional<std::int64_t> least = need(way.end);
    int trials = kMostTrials;
    while (!least || *least > most) {
        std::optional<Way> best;
        for (const Command& move : smaller_tiles(way.end, region)) {
            if (--trials < 0) return std::nullopt;
            std::optional<Way> next = with_move(way, move);
            const std::optional<std::int64_t> needed = next ? need(next->end) : std::nullopt;
            if (!needed || (least && *needed >= *least)) continue;
            least = needed;
            best = std::move(next);
            if (*needed <= most) break;
        }
        if (!best) return std::nullopt;
        way = *std::move(best);
    }
    return way;
}

}  // namespace

std::vector<Command> helpful_moves(const State& state, const std::string& region,
                                   const EmitOptions& options, const Need& need) {
    Way start{state, {}};
    if (options.target != "simt" && !need(state)) {
        const std::optional<Way> planned = PlanFinder(region, options).find(state);
        if (!planned) return {};
        start = *planned;
    }
    const std::optional<Way> way = to_smaller_tiles(start, region, options.shared_memory, need);
    return way ? without_detours(state, *way) : std::vector<Command>{};
}

}  // namespace napkin
