#include "codegen/helpful_moves.h"

#include <algorithm>
#include <optional>

#include "schedule/moves.h"
#include "schedule/schedule.h"

namespace napkin {
namespace {

/// Longer ways are no help, and looking for them takes time.
constexpr std::size_t kMostMoves = 4;
constexpr int kMostTrials = 60;

class Helper {
public:
    Helper(std::string region, const EmitOptions& options)
        : region_(std::move(region)), options_(options) {}

    bool find(const State& state, std::size_t depth) {
        const Result<TileProgram> program = expand(state);
        if (!program || --trials_ < 0) return false;
        const auto region = std::find_if(program->regions.begin(), program->regions.end(),
                                         [&](const RegionProgram& r) { return r.name == region_; });
        if (region == program->regions.end()) return false;
        const RegionProgram simpler = schedule::simplified(*region);
        if (schedule::has_plan(simpler, options_.limits())) return true;
        if (depth == 0) return false;
        for (Command& move : schedule::proposed_moves(simpler, options_.limits())) {
            if (program->regions.size() > 1) move.in = region_;
            const std::size_t before = moves_.size();
            const std::optional<State> next = made(state, move);
            if (next && find(*next, depth - 1)) return true;
            moves_.resize(before);
        }
        return false;
    }

    std::vector<Command> take() { return std::move(moves_); }

private:
    /// The state after the move, and after what must be undone for it.
    std::optional<State> made(const State& state, const Command& move) {
        for (const char* undo : {"", "ungroup", "unstream"}) {
            State start = state;
            Command first = move;
            if (*undo != 0) {
                first.rule = undo;
                first.size.reset();
                Outcome undone = apply(state, first);
                if (!std::holds_alternative<State>(undone)) continue;
                start = std::get<State>(std::move(undone));
            }
            Outcome next = apply(start, move);
            State* done = std::get_if<State>(&next);
            if (done == nullptr || done->relabelling == state.relabelling) continue;
            if (*undo != 0) moves_.push_back(first);
            moves_.push_back(move);
            return std::move(*done);
        }
        return std::nullopt;
    }

    std::string region_;
    const EmitOptions& options_;
    std::vector<Command> moves_;
    int trials_ = kMostTrials;
};

}  // namespace

std::vector<Command> helpful_moves(const State& state, const std::string& region,
                                   const EmitOptions& options) {
    Helper helper(region, options);
    for (std::size_t depth = 1; depth <= kMostMoves; ++depth)
        if (helper.find(state, depth)) return helper.take();
    return {};
}

}  // namespace napkin
