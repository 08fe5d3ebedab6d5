#include "cli/suggest.h"

#include <algorithm>
#include <optional>
#include <set>

#include "cli/numbers.h"
#include "cli/picture.h"
#include "perfmodel/time.h"

namespace napkin::cli {
namespace {

constexpr std::int64_t kSizes[] = {16, 32, 64, 128, 256};

/// Commands of one kind, of which only the best is shown.
using Family = std::vector<std::string>;

std::string in_region(const State& state, const Region& region) {
    return state.relabelling.regions.size() == 1 ? "" : " in " + region_name(state.diagram, region);
}

void add_sizes(const std::string& start, const std::string& end, std::int64_t extent,
               std::vector<Family>& families) {
    Family family;
    for (const std::int64_t size : kSizes)
        if (size < extent) family.push_back(start + std::to_string(size) + end);
    if (!family.empty()) families.push_back(std::move(family));
}

/// Every fusion of a producer with a reader of its output, every group and stream of an axis.
std::vector<Family> families_of(const State& state) {
    const Diagram& diagram = state.diagram;
    std::vector<Family> families;
    std::set<std::string> pairs;
    for (const Region& region : state.relabelling.regions)
        for (const ArrayId array : loads_of(diagram, region))
            if (producer(diagram, array))
                for (const Region& source : state.relabelling.regions)
                    for (const ArrayId saved : saves_of(diagram, source))
                        if (saved == array)
                            pairs.insert("fuse " + region_name(diagram, source) + ", " +
                                         region_name(diagram, region));
    for (const std::string& pair : pairs) families.push_back({pair});
    if (pairs.size() > 1) families.push_back({"fuse all"});
    for (const Region& region : state.relabelling.regions) {
        std::set<AxisId> axes;
        for (const StatementId id : region.statements)
            for (const AxisId axis : axes_of(diagram, diagram[id])) axes.insert(axis);
        for (const AxisId axis : axes) {
            const std::string& name = diagram[axis].name;
            const std::string end = " at l1" + in_region(state, region);
            const auto here = [&](const auto& item) {
                return item.axis == axis && item.level == Level::Block;
            };
            if (std::any_of(region.groups.begin(), region.groups.end(), here) ||
                std::any_of(region.streams.begin(), region.streams.end(), here))
                continue;
            add_sizes("group " + name + " by ", end, diagram[axis].extent, families);
            add_sizes("stream " + name + " by ", end, diagram[axis].extent, families);
        }
    }
    return families;
}

Outcome apply_text(const State& state, const std::string& text) {
    SourceMap sources;
    const Result<Command> command = parse_command(sources, sources.add("suggestion", text));
    invariant(command.has_value(), "a suggestion that is no command");
    return apply(state, *command);
}

bool fits(const Cost& cost, const Machine& machine) {
    return std::all_of(cost.regions.begin(), cost.regions.end(), [&](const RegionCost& region) {
        return excesses_of(region, machine).empty();
    });
}

/// What fits first, then what saves most time, then transfers.
bool saves_more(const Suggestion& a, const Suggestion& b) {
    if (a.fits != b.fits) return a.fits;
    const double time_a = a.figures.time_low + a.figures.time_high;
    const double time_b = b.figures.time_low + b.figures.time_high;
    if (time_a != time_b) return time_a < time_b;
    return a.figures.transferred < b.figures.transferred;
}

/// Which size of one family to show: while nothing fits, the one that needs least memory.
bool better(const Suggestion& a, const Suggestion& b) {
    if (!a.fits && !b.fits && a.figures.memory != b.figures.memory)
        return a.figures.memory < b.figures.memory;
    return saves_more(a, b);
}

}  // namespace

Result<Suggestions> suggest(const State& state, const Machine& machine) {
    const Result<Cost> cost = cost_of_state(state);
    if (!cost) return cost.error();
    Suggestions suggestions;
    suggestions.now = figures_of(*cost, machine);
    for (const Family& family : families_of(state)) {
        std::optional<Suggestion> best;
        for (const std::string& command : family) {
            const Outcome outcome = apply_text(state, command);
            if (const NotApplicable* refusal = std::get_if<NotApplicable>(&outcome)) {
                if (command == family.front())
                    suggestions.refused.push_back({command, refusal->reason});
                continue;
            }
            const State& next = std::get<State>(outcome);
            const Result<Cost> next_cost = cost_of_state(next);
            if (!next_cost) continue;
            Suggestion candidate{command, figures_of(*next_cost, machine),
                                 fits(*next_cost, machine)};
            if (!best || better(candidate, *best)) best = std::move(candidate);
        }
        if (best) suggestions.legal.push_back(std::move(*best));
    }
    std::stable_sort(suggestions.legal.begin(), suggestions.legal.end(), saves_more);
    return suggestions;
}

std::string text_of(const Suggestions& suggestions) {
    std::size_t width = 0;
    for (const Suggestion& move : suggestions.legal) width = std::max(width, move.command.size());
    for (const Refusal& move : suggestions.refused) width = std::max(width, move.command.size());
    const auto field = [](const std::string& name, double before, double now) {
        return padded(name + " " + change_text(before, now), 14);
    };
    std::string text;
    for (const Suggestion& move : suggestions.legal) {
        const Figures& figures = move.figures;
        text += "  " + padded(move.command, width) + "   " +
                field("H", suggestions.now.transferred, figures.transferred) +
                field("M", suggestions.now.memory, figures.memory) +
                field("time", suggestions.now.time_high, figures.time_high) +
                (move.fits ? "" : "still too large");
        while (text.back() == ' ') text.pop_back();
        text += "\n";
    }
    if (suggestions.legal.empty()) text += "  no rule applies here\n";
    for (const Refusal& move : suggestions.refused)
        text += "  " + padded(move.command, width) + "   refused: " + move.reason + "\n";
    return text;
}

}  // namespace napkin::cli
