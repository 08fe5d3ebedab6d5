#include "search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "derive/tile_program.h"
#include "search/tilings.h"

namespace napkin {

namespace {

/// Up to so many boxes every way of cutting their sequence is tried.
constexpr std::size_t kMostBoxesCut = 5;

Command fuse(std::vector<std::string> names) {
    Command command;
    command.rule = "fuse";
    command.names = std::move(names);
    return command;
}

/// A state whose regions are not tiled yet, and how it was reached.
struct Fusion {
    std::vector<Command> commands;
    State state;
};

std::vector<std::string> region_names(const State& state) {
    std::vector<std::string> names;
    for (const Region& region : state.relabelling.regions)
        names.push_back(region_name(state.diagram, region));
    return names;
}

/// Fuses runs of regions; `cuts` has a bit for every boundary that stays.
std::optional<Fusion> cut_at(const State& plain, std::size_t cuts) {
    const std::vector<std::string> names = region_names(plain);
    Fusion fusion{{}, plain};
    std::vector<std::string> run;
    for (std::size_t k = 0; k < names.size(); ++k) {
        run.push_back(names[k]);
        const bool ends = k + 1 == names.size() || ((cuts >> k) & 1U) != 0;
        if (!ends) continue;
        if (run.size() > 1) {
            const Command command = run.size() == names.size() ? fuse({"all"}) : fuse(run);
            Outcome next = apply(fusion.state, command);
            if (!std::holds_alternative<State>(next)) return std::nullopt;
            fusion.state = std::get<State>(std::move(next));
            fusion.commands.push_back(command);
        }
        run.clear();
    }
    return fusion;
}

std::vector<Fusion> fusions_of(const State& plain) {
    const std::size_t boundaries = plain.relabelling.regions.size() - 1;
    std::vector<std::size_t> ways;
    if (boundaries < kMostBoxesCut) {
        for (std::size_t cuts = 0; cuts < (std::size_t{1} << boundaries); ++cuts)
            ways.push_back(cuts);
    } else {
        const std::size_t none =
            boundaries >= 63 ? ~std::size_t{0} >> 1U : (std::size_t{1} << boundaries) - 1;
        ways = {0, none};
        for (std::size_t k = 0; k < std::min<std::size_t>(boundaries, 63); ++k)
            ways.push_back(none & ~(std::size_t{1} << k));
    }
    std::vector<Fusion> fusions;
    for (std::size_t cuts : ways)
        if (std::optional<Fusion> fusion = cut_at(plain, cuts))
            fusions.push_back(std::move(*fusion));
    return fusions;
}

/// One tiling for each region, in the order of the state.
struct Choice {
    const Fusion* fusion = nullptr;
    std::vector<Tiling> tilings;
    [[nodiscard]] Seconds time() const {
        Seconds total;
        for (const Tiling& tiling : tilings) total += tiling.time;
        return total;
    }
};

/// The best tiling of every region, and each variation of one of them.
std::vector<Choice> choices_of(const Fusion& fusion, const Machine& machine, std::size_t top,
                               std::map<std::vector<StatementId>, std::vector<Tiling>>& known,
                               TilingCounts& counts) {
    std::vector<std::vector<Tiling>> lists;
    const bool alone = fusion.state.relabelling.regions.size() == 1;
    for (const Region& region : fusion.state.relabelling.regions) {
        const auto same = known.find(region.statements);
        if (same == known.end() || alone)
            lists.push_back(best_tilings(fusion.state, region_name(fusion.state.diagram, region),
                                         machine, top, counts));
        else
            lists.push_back(same->second);
        if (!alone) known[region.statements] = lists.back();
        if (lists.back().empty()) return {};
    }
    Choice best{&fusion, {}};
    for (const std::vector<Tiling>& list : lists) best.tilings.push_back(list.front());
    std::vector<Choice> choices = {best};
    for (std::size_t r = 0; r < lists.size(); ++r)
        for (std::size_t k = 1; k < lists[r].size(); ++k) {
            choices.push_back(best);
            choices.back().tilings[r] = lists[r][k];
        }
    return choices;
}

/// Derives a choice from the plain diagram and costs what comes out.
std::optional<Candidate> derive(const State& plain, const Choice& choice, const Machine& machine) {
    Candidate candidate;
    candidate.commands = choice.fusion->commands;
    for (const Tiling& tiling : choice.tilings)
        candidate.commands.insert(candidate.commands.end(), tiling.commands.begin(),
                                  tiling.commands.end());
    candidate.state = plain;
    for (const Command& command : candidate.commands) {
        Outcome next = apply(candidate.state, command);
        if (!std::holds_alternative<State>(next)) return std::nullopt;
        candidate.state = std::get<State>(std::move(next));
    }
    const Result<TileProgram> program = expand(candidate.state, OpaqueBoxes::Keep);
    if (!program) return std::nullopt;
    Result<Cost> cost = cost_of(*program);
    if (!cost) return std::nullopt;
    for (const RegionCost& region : cost->regions)
        if (!excesses_of(region, machine).empty()) return std::nullopt;
    candidate.cost = std::move(*cost);
    candidate.time = time_of(candidate.cost, machine);
    return candidate;
}

std::string interval_text(const TimeEstimate& time) {
    const std::string low = text_of(time.low);
    const std::string high = text_of(time.high);
    return low == high ? low : low + " to " + high;
}

}  // namespace

Result<SearchResult> search(const Diagram& diagram, const Machine& machine, std::size_t top,
                            const Serves& serves) {
    const State plain = initial_state(diagram);
    if (plain.relabelling.regions.empty())
        return plain_error("E0931", "the diagram computes nothing");
    const std::vector<Fusion> fusions = fusions_of(plain);
    std::map<std::vector<StatementId>, std::vector<Tiling>> known;
    std::vector<Choice> choices;
    TilingCounts counts;
    for (const Fusion& fusion : fusions)
        for (Choice& choice :
             choices_of(fusion, machine, std::max<std::size_t>(top, 1), known, counts))
            choices.push_back(std::move(choice));
    std::stable_sort(choices.begin(), choices.end(),
                     [](const Choice& a, const Choice& b) { return a.time() < b.time(); });
    SearchResult result;
    result.evaluated = counts.evaluated;
    result.too_large = counts.too_large;
    for (const Choice& choice : choices) {
        if (result.ranked.size() >= top) break;
        std::optional<Candidate> candidate = derive(plain, choice, machine);
        if (!candidate) continue;
        if (serves && !serves(candidate->state))
            ++result.not_served;
        else
            result.ranked.push_back(std::move(*candidate));
    }
    if (result.ranked.empty() && result.not_served > 0)
        return plain_error(
            "E0933",
            fmt::format(
                "the target makes kernels of none of the {} derivations of `{}` that fit {}",
                result.not_served, diagram.name, machine.name),
            "`emit` says why; leave out `--target`, or choose `--target simt`");
    if (result.ranked.empty())
        return plain_error(
            "E0932",
            fmt::format("no derivation of `{}` that was tried fits {}", diagram.name, machine.name),
            "its smallest tiles exceed a capacity, or no rule applies: `derive -i` and `suggest` "
            "say which");
    std::stable_sort(
        result.ranked.begin(), result.ranked.end(),
        [](const Candidate& a, const Candidate& b) { return a.time.middle() < b.time.middle(); });
    return result;
}

std::string print(const Candidate& candidate, const Machine& machine) {
    const auto moved = candidate.cost.transferred.find(Level::Block);
    std::string text = fmt::format("# found for {}: {}, bound by {}", machine.name,
                                   interval_text(candidate.time), candidate.time.binds);
    if (moved != candidate.cost.transferred.end())
        text += ", H = " + text_of(Bytes{static_cast<double>(moved->second.bytes())});
    text += "\n";
    for (const Command& command : candidate.commands) text += print(command) + "\n";
    return text;
}

}  // namespace napkin
