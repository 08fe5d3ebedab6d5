#include "search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "derive/tile_program.h"
#include "search/kernels.h"
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
        ways = {none, 0};
        for (std::size_t k = 0; k < std::min<std::size_t>(boundaries, 63); ++k)
            ways.push_back(none & ~(std::size_t{1} << k));
    }
    std::vector<Fusion> fusions;
    for (std::size_t cuts : ways)
        if (std::optional<Fusion> fusion = cut_at(plain, cuts))
            fusions.push_back(std::move(*fusion));
    return fusions;
}

/// Tilings of a region whose kernels are looked at, where there are few ways of fusing and where
/// there are many; and how many of them are kept.
constexpr std::size_t kMostTilings = 100;
constexpr std::size_t kFewTilings = 2;
constexpr std::size_t kFewFusions = 16;
constexpr std::size_t kMostKept = 20;

/// The tilings of every region of a fusion, fastest first.
struct Tiled {
    Fusion fusion;
    std::vector<const std::vector<Tiling>*> regions;
};

/// The fastest tiling of every region but one, and one of that.
struct Choice {
    const Tiled* tiled = nullptr;
    std::size_t region = 0;
    std::size_t tiling = 0;
    Seconds time;
    [[nodiscard]] const Tiling& of(std::size_t r) const {
        return (*tiled->regions[r])[r == region ? tiling : 0];
    }
};

/// Tilings of a region by its statements: a region of several is the same wherever it stands, but
/// for its name in commands.
using Tilings = std::map<std::pair<std::vector<StatementId>, bool>, std::vector<Tiling>>;

/// What does not depend on which fusion is looked at.
struct Survey {
    KernelSearch kernels;
    SearchResult& result;
    Tilings known = {};
};

/// The best tilings of a region: by their kernels where the machine's are known.
std::vector<Tiling> tilings_of(const State& fused, const Region& region, Survey& survey) {
    const std::string name = region_name(fused.diagram, region);
    TilingCounts counts;
    const std::size_t most = survey.result.fusions > kFewFusions ? kFewTilings : kMostTilings;
    std::vector<Tiling> found = best_tilings(fused, name, survey.kernels.machine, most, counts);
    survey.result.evaluated += counts.evaluated;
    survey.result.too_large += counts.too_large;
    if (survey.kernels.request.target.empty()) {
        if (found.size() > kMostKept) found.resize(kMostKept);
        return found;
    }
    KernelCounts kernels;
    found = best_kernels(fused, name, found, survey.kernels, kMostKept, kernels);
    survey.result.kernels += kernels.evaluated;
    survey.result.not_served += kernels.not_served;
    return found;
}

/// Nothing where some region has no tiling.
std::optional<Tiled> tiled(Fusion fusion, Survey& survey) {
    std::vector<const std::vector<Tiling>*> lists;
    const bool alone = fusion.state.relabelling.regions.size() == 1;
    for (const Region& region : fusion.state.relabelling.regions) {
        const auto [list, is_new] = survey.known.try_emplace({region.statements, alone});
        if (is_new) list->second = tilings_of(fusion.state, region, survey);
        if (list->second.empty()) return std::nullopt;
        lists.push_back(&list->second);
    }
    return Tiled{std::move(fusion), std::move(lists)};
}

/// The best tiling of every region, and each variation of one of them.
void add_choices(const Tiled& tiled, std::vector<Choice>& choices) {
    Seconds best;
    for (const std::vector<Tiling>* list : tiled.regions) best += list->front().time;
    choices.push_back({&tiled, 0, 0, best});
    for (std::size_t r = 0; r < tiled.regions.size(); ++r) {
        const std::vector<Tiling>& list = *tiled.regions[r];
        for (std::size_t k = 1; k < list.size(); ++k)
            choices.push_back({&tiled, r, k, best - list.front().time + list[k].time});
    }
}

/// Derives a choice from the plain diagram and costs what comes out.
std::optional<Candidate> derive(const State& plain, const Choice& choice,
                                const KernelSearch& kernels) {
    Candidate candidate;
    candidate.commands = choice.tiled->fusion.commands;
    for (std::size_t r = 0; r < choice.tiled->regions.size(); ++r) {
        const std::vector<Command>& commands = choice.of(r).commands;
        candidate.commands.insert(candidate.commands.end(), commands.begin(), commands.end());
    }
    std::optional<State> state = after(plain, candidate.commands);
    if (!state) return std::nullopt;
    candidate.state = std::move(*state);
    const Result<TileProgram> program = expand(candidate.state, OpaqueBoxes::Keep);
    if (!program) return std::nullopt;
    Result<Cost> cost = cost_of(*program);
    if (!cost) return std::nullopt;
    for (std::size_t r = 0; r < cost->regions.size(); ++r) {
        if (!kernels.request.target.empty())
            add_work(program->regions[r], kernels.request, cost->regions[r]);
        if (!excesses_of(cost->regions[r], kernels.machine).empty()) return std::nullopt;
    }
    candidate.cost = std::move(*cost);
    candidate.time = time_of(candidate.cost, kernels.machine);
    return candidate;
}

std::string interval_text(const TimeEstimate& time) {
    const std::string low = text_of(time.low);
    const std::string high = text_of(time.high);
    return low == high ? low : low + " to " + high;
}

/// Why there is no result.
Diagnostic nothing_found(const SearchResult& result, const std::string& diagram,
                         const Machine& machine) {
    if (result.not_served > 0)
        return plain_error(
            "E0933",
            fmt::format("the target makes kernels of none of the {} tilings of `{}` that fit {}",
                        result.not_served, diagram, machine.name),
            "`emit` says why; leave out `--target`, or choose `--target simt`");
    if (result.searched < result.fusions)
        return plain_error(
            "E0934",
            fmt::format("no derivation of `{}` that fits {} was found in the time given: {} of {} "
                        "ways of fusing were searched",
                        diagram, machine.name, result.searched, result.fusions),
            "give it more `--seconds`");
    return plain_error(
        "E0932", fmt::format("no derivation of `{}` that was tried fits {}", diagram, machine.name),
        "its smallest tiles exceed a capacity, or no rule applies: `derive -i` and `suggest` "
        "say which");
}

/// The best choices, derived.
void derive_best(const State& plain, std::vector<Choice> choices, const KernelSearch& kernels,
                 std::size_t top, SearchResult& result) {
    std::stable_sort(choices.begin(), choices.end(),
                     [](const Choice& a, const Choice& b) { return a.time < b.time; });
    for (const Choice& choice : choices) {
        if (result.ranked.size() >= top) break;
        if (std::optional<Candidate> candidate = derive(plain, choice, kernels))
            result.ranked.push_back(std::move(*candidate));
    }
    std::stable_sort(
        result.ranked.begin(), result.ranked.end(),
        [](const Candidate& a, const Candidate& b) { return a.time.middle() < b.time.middle(); });
}

}  // namespace

Result<SearchResult> search(const Diagram& diagram, const Machine& machine,
                            const SearchOptions& options) {
    const State plain = initial_state(diagram);
    if (plain.relabelling.regions.empty())
        return plain_error("E0931", "the diagram computes nothing");
    SearchResult result;
    std::vector<Fusion> fusions = fusions_of(plain);
    result.fusions = fusions.size();
    Survey survey{{machine, kernels_for(machine, options.target), options.serves}, result};
    if (result.fusions > kFewFusions) survey.kernels.starts = 0;
    std::deque<Tiled> all;
    std::vector<Choice> choices;
    for (Fusion& fusion : fusions) {
        if (options.proceed && !options.proceed(result.searched, result.fusions)) break;
        ++result.searched;
        if (std::optional<Tiled> found = tiled(std::move(fusion), survey))
            add_choices(all.emplace_back(std::move(*found)), choices);
    }
    derive_best(plain, std::move(choices), survey.kernels, options.top, result);
    if (result.ranked.empty()) return nothing_found(result, diagram.name, machine);
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
