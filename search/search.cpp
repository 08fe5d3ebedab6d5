#include "search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "derive/tile_program.h"
#include "perfmodel/time.h"
#include "search/kernels.h"
#include "search/recomputations.h"
#include "search/starts.h"
#include "search/whole_search.h"

namespace napkin {

namespace {

std::string interval_text(const TimeEstimate& time) {
    const std::string low = text_of(time.low);
    const std::string high = text_of(time.high);
    return low == high ? low : low + " to " + high;
}

/// What no tiles change: that the arrays of a box do not fit the device.
std::optional<Excess> arrays_too_large(const TileProgram& program, const Machine& machine) {
    for (const RegionProgram& region : program.regions) {
        const Result<RegionCost> cost = quick_cost_of(region);
        if (!cost) continue;
        for (const Excess& excess : excesses_of(*cost, machine))
            if (excess.level == Level::Device) return excess;
    }
    return std::nullopt;
}

/// Why there is no result.
Result<SearchResult> nothing_found(const SearchResult& result, const Diagram& plain,
                                   const Machine& machine) {
    const std::string& diagram = plain.name;
    if (result.not_served > 0)
        return plain_error(
            "E0933",
            fmt::format("the target makes kernels of none of the {} tilings of `{}` that fit {}",
                        result.not_served, diagram, machine.name),
            "`emit` says why; leave out `--target`, or choose `--target simt`");
    if (result.stopped)
        return plain_error(
            "E0934",
            fmt::format("no derivation of `{}` that fits {} was found in the time given: {} of {} "
                        "regions were searched",
                        diagram, machine.name, result.searched, result.regions),
            "give it more `--seconds`");
    const Result<TileProgram> program = expand(initial_state(plain), OpaqueBoxes::Keep);
    if (!program) return program.error();
    // What cannot be costed was not tried at all.
    if (const Result<Cost> cost = cost_of(*program); !cost) return cost.error();
    const std::optional<Excess> too_large = arrays_too_large(*program, machine);
    return plain_error(
        "E0932", fmt::format("no derivation of `{}` that was tried fits {}", diagram, machine.name),
        too_large ? describe(*too_large) + "; `--set` makes the diagram smaller"
                  : "its smallest tiles exceed a capacity, or no rule applies: `derive -i` and "
                    "`suggest` say which");
}

/// One start after the other, the later ones for what is faster than what is found.
class Searches {
public:
    Searches(const Machine& machine, const SearchOptions& options)
        : machine_(machine), options_(options) {}

    SearchResult run(const Diagram& diagram) {
        for (const Start& start : starts_of(diagram)) search_from(start);
        recompute(initial_state(diagram));
        if (ranked_.empty() || is_slow())
            if (const std::optional<Start> parts = start_of_parts(diagram)) search_from(*parts);
        std::stable_sort(ranked_.begin(), ranked_.end(),
                         [](const Candidate& a, const Candidate& b) {
                             return a.time.middle() < b.time.middle();
                         });
        ranked_.resize(std::min(ranked_.size(), options_.top));
        SearchResult result;
        result.ranked = std::move(ranked_);
        result.regions = known_.kinds.size();
        result.searched = stopped_ ? known_.tiled : result.regions;
        result.stopped = stopped_;
        result.tiled = known_.tiled;
        result.most_boxes = known_.most_boxes;
        result.evaluated = known_.evaluated;
        result.too_large = known_.too_large;
        result.kernels = known_.kernels;
        result.not_served = known_.not_served;
        result.faults = std::move(known_.faults);
        return result;
    }

private:
    /// Whether it leads to what is faster than all else.
    bool search_from(const Start& start) {
        if (stopped_) return false;
        WholeResult found = search_whole(start, machine_, options_, best_, known_);
        stopped_ = found.stopped;
        bool is_best = false;
        for (Candidate& candidate : found.ranked) {
            is_best = is_best || candidate.time.middle() < best_;
            best_ = std::min(best_, candidate.time.middle());
            ranked_.push_back(std::move(candidate));
        }
        return is_best;
    }

    /// Whether what is found takes far longer than its busiest pipeline, as each of its blocks has
    /// a processor to itself: long rows, of which parts would share it. Parts are read twice.
    [[nodiscard]] bool is_slow() const {
        constexpr double kFar = 2.5;
        const auto best = std::min_element(ranked_.begin(), ranked_.end(),
                                           [](const Candidate& a, const Candidate& b) {
                                               return a.time.middle() < b.time.middle();
                                           });
        double busiest = 0;
        for (const TimeTerm& term : best->time.terms) busiest = std::max(busiest, term.low.value);
        return best->time.resident == 1 && best->time.waves > 1 &&
               best->time.middle().value > kFar * busiest;
    }

    /// What helps is kept when the next is tried.
    void recompute(const State& plain) {
        Start kept{{}, plain, true};
        for (const std::vector<Command>& commands : recomputations(plain)) {
            std::optional<State> state = after(kept.state, commands);
            if (!state) continue;
            Start start{kept.commands, std::move(*state), true};
            start.commands.insert(start.commands.end(), commands.begin(), commands.end());
            if (search_from(start)) kept = std::move(start);
        }
    }

    const Machine& machine_;
    const SearchOptions& options_;
    Known known_;
    std::vector<Candidate> ranked_;
    Seconds best_{std::numeric_limits<double>::infinity()};
    bool stopped_ = false;
};

}  // namespace

Result<SearchResult> search(const Diagram& diagram, const Machine& machine,
                            const SearchOptions& options) {
    if (initial_state(diagram).relabelling.regions.empty())
        return plain_error("E0931", "the diagram computes nothing");
    SearchResult result = Searches(machine, options).run(diagram);
    if (result.ranked.empty()) return nothing_found(result, diagram, machine);
    return result;
}

std::string print(const Candidate& candidate, const Machine& machine, const std::string& target) {
    const auto moved = candidate.cost.transferred.find(Level::Block);
    std::string text = fmt::format("# found for {}{}: {}, bound by {}", machine.name,
                                   target.empty() ? "" : fmt::format(" with --target {}", target),
                                   interval_text(candidate.time), candidate.time.bound_by());
    if (moved != candidate.cost.transferred.end())
        text += ", H = " + text_of(Bytes{static_cast<double>(moved->second.bytes())});
    text += "\n";
    for (const Command& command : candidate.commands) text += print(command) + "\n";
    return text;
}

}  // namespace napkin
