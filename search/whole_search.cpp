#include "search/whole_search.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "derive/tile_program.h"
#include "diagrams/contains.h"
#include "perfmodel/kernel_choice.h"
#include "search/choices.h"
#include "search/kernels.h"
#include "search/least_time.h"
#include "search/partition.h"

namespace napkin {

namespace {

/// Boxes of a region but the whole, and cuts of the diagram: where there are more, regions are
/// smaller.
constexpr std::size_t kMostBoxes = 12;
constexpr std::size_t kMostCuts = 20000;
constexpr double kNever = std::numeric_limits<double>::infinity();
/// Tilings of a region whose kernels are looked at, and how many of them are kept.
constexpr std::size_t kMostTilings = 100;
constexpr std::size_t kMostKept = 20;
/// Likewise of those with streams in parts.
constexpr std::size_t kMostSplits = 24;
/// Derivations of which kernels with stale maxima are looked at.
constexpr std::size_t kMostStale = 5;
/// Of a region's first tilings, those whose kernels are looked at.
constexpr std::size_t kMostFirst = 4;

Command fuse(std::vector<std::string> names) {
    Command command;
    command.rule = "fuse";
    command.names = std::move(names);
    return command;
}

/// Regions that are tiled alike.
struct Kind {
    std::size_t set = 0;         ///< the first of them
    KnownKind* known = nullptr;  ///< nothing where it can be no region

    /// Of its fastest kernel, or the least that it takes.
    [[nodiscard]] double seconds() const {
        if (known == nullptr) return kNever;
        if (!known->tilings) return known->least;
        return known->tilings->empty() ? kNever : known->tilings->front().time.value;
    }
    [[nodiscard]] bool is_tiled() const { return known == nullptr || known->tilings; }
    /// What it is made of where the search is stopped; nothing where there is none yet.
    [[nodiscard]] const std::vector<Tiling>* found() const {
        if (known == nullptr) return nullptr;
        return known->tilings ? &*known->tilings : known->first ? &*known->first : nullptr;
    }
};

/// A set of boxes as a region of a state in which it alone is fused.
struct Member {
    std::size_t kind = 0;
    std::vector<AxisId> axes;  ///< where the kind's are
};

/// The fastest tiling of every region but one, and one of that.
struct Choice {
    std::size_t region = 0;
    std::size_t tiling = 0;
    Seconds time;
    [[nodiscard]] std::size_t of(std::size_t r) const { return r == region ? tiling : 0; }
};

class WholeSearch {
public:
    WholeSearch(const Start& start, const Machine& machine, const SearchOptions& options,
                Seconds rival, Known& known)
        : start_(start),
          plain_(start.state),
          options_(options),
          rival_(rival),
          kernels_{machine, kernels_for(machine, options.target), options.serves},
          graph_(box_graph(start.state)),
          known_(known) {
        kernels_.request.limits.deadline = options.deadline;
        if (start.by_flow) graph_.sharing = std::vector(graph_.size(), graph_.none());
        for (const Region& region : plain_.relabelling.regions)
            names_.push_back(region_name(plain_.diagram, region));
    }

    WholeResult run() {
        choose_sets();
        members_.resize(sets_.size());
        for (std::size_t k = 0; k < sets_.size(); ++k)
            if (sets_[k].count() == 1) note_kind(k);
        if (options_.deadline.is_set()) tile_single_boxes();
        // Whenever the search is stopped, there is a partition from here on.
        for (std::size_t k = 0; k < sets_.size(); ++k)
            if (sets_[k].count() > 1) note_kind(k);
        tile_partitions();
        choose_partition();
        if (!partition_.empty()) derive_best();
        result_.stopped = is_stopped();
        return std::move(result_);
    }

private:
    /// As large as leave few enough cuts.
    void choose_sets() {
        for (std::size_t most = kMostBoxes; !cuts_; --most) {
            BoxSets found = convex_sets(graph_, most);
            sets_ = std::move(found.sets);
            std::erase_if(sets_, [&](const BoxSet& set) { return joins_what_is_apart(set); });
            known_.most_boxes = std::max(known_.most_boxes, found.most_boxes);
            if (found.most_boxes > 0) most = found.most_boxes;
            // Single boxes run in one order.
            cuts_ = Cuts::of(graph_, sets_, most > 1 ? kMostCuts : graph_.size() + 1);
        }
    }

    /// Whether it fuses an array that the start has apart with what reads it.
    [[nodiscard]] bool joins_what_is_apart(const BoxSet& set) const {
        const auto any = [&](const auto& holds) {
            for (std::size_t box = set.find_first(); box != BoxSet::npos; box = set.find_next(box))
                for (const StatementId id : plain_.relabelling.regions[box].statements)
                    if (holds(plain_.diagram[id])) return true;
            return false;
        };
        return std::any_of(start_.apart.begin(), start_.apart.end(), [&](const std::string& name) {
            const std::optional<ArrayId> array = find_array(plain_.diagram, name);
            return array &&
                   any([&](const Statement& each) { return contains(each.targets, *array); }) &&
                   any([&](const Statement& each) { return contains(inputs_of(each), *array); });
        });
    }

    [[nodiscard]] std::optional<Command> fusion_of(const BoxSet& set) const {
        if (set.count() == 1) return std::nullopt;
        if (set.all()) return fuse({"all"});
        std::vector<std::string> names;
        for (std::size_t box = set.find_first(); box != BoxSet::npos; box = set.find_next(box))
            names.push_back(names_[box]);
        return fuse(std::move(names));
    }

    [[nodiscard]] std::optional<State> fused(const BoxSet& set) const {
        const std::optional<Command> fusion = fusion_of(set);
        return after(plain_, fusion ? std::vector{*fusion} : std::vector<Command>{});
    }
    /// The region that holds the set's boxes.
    [[nodiscard]] const Region& region_of(const State& state, const BoxSet& set) const {
        const StatementId first = plain_.relabelling.regions[set.find_first()].statements.front();
        const std::vector<Region>& regions = state.relabelling.regions;
        return *std::find_if(regions.begin(), regions.end(), [&](const Region& region) {
            return contains(region.statements, first);
        });
    }

    /// Of the set as a region, in any state.
    [[nodiscard]] std::string name_of(const BoxSet& set) const {
        Region region;
        for (std::size_t box = set.find_first(); box != BoxSet::npos; box = set.find_next(box))
            for (const StatementId id : plain_.relabelling.regions[box].statements)
                region.statements.push_back(id);
        std::sort(region.statements.begin(), region.statements.end());
        return region_name(plain_.diagram, region);
    }

    void note_kind(std::size_t k) {
        const bool is_skipped = sets_[k].count() > 1 && is_stopped();
        const std::optional<State> state = is_skipped ? std::nullopt : fused(sets_[k]);
        if (!state) {  // or groups of its parts contradict each other
            members_[k] = {kinds_.size(), {}};
            kinds_.push_back({k, nullptr});
            return;
        }
        const Region& region = region_of(*state, sets_[k]);
        RegionKind text = kind_of(*state, region);
        const auto [place, is_new] = places_.try_emplace(text.text, kinds_.size());
        if (is_new) kinds_.push_back({k, &known_kind(*state, region, text)});
        members_[k] = {place->second, std::move(text.axes)};
    }

    [[nodiscard]] KnownKind& known_kind(const State& state, const Region& region,
                                        const RegionKind& kind) const {
        const auto [found, is_new] = known_.kinds.try_emplace(kind.text);
        if (is_new) {
            for (const AxisId axis : kind.axes)
                found->second.axes.push_back(state.diagram[axis].name);
            found->second.least = least_of(state, region);
        }
        return found->second;
    }

    /// Seconds. What a hard mask needs may take as long to say as all the rest: where there is no
    /// time for it, 0 is not wrong.
    [[nodiscard]] double least_of(const State& state, const Region& region) const {
        if (is_stopped()) return 0;
        const auto least = least_time(state, region, kernels_.machine);
        return least ? least->value : kNever;
    }

    [[nodiscard]] bool is_stopped() const { return options_.deadline.is_past(); }

    void tile_kind(const Kind& kind) const {
        if (options_.told) options_.told(known_.tiled, known_.kinds.size());
        ++known_.tiled;
        const BoxSet& set = sets_[kind.set];
        TilingCounts counts;
        std::vector<Tiling> tilings = best_tilings(*fused(set), name_of(set), kernels_.machine,
                                                   kMostTilings, counts, options_.deadline);
        note(counts);
        if (!kernels_.request.target.empty()) make_kernels(set, tilings);
        if (kind.known->first && is_stopped()) add_first(*kind.known->first, tilings);
        if (tilings.size() > kMostKept) tilings.resize(kMostKept);
        kind.known->tilings = std::move(tilings);
    }

    /// What was there at first may be better than what there was time for.
    static void add_first(const std::vector<Tiling>& first, std::vector<Tiling>& tilings) {
        std::copy_if(
            first.begin(), first.end(), std::back_inserter(tilings), [&](const Tiling& early) {
                return std::none_of(tilings.begin(), tilings.end(), [&](const Tiling& late) {
                    return late.commands == early.commands;
                });
            });
        std::stable_sort(tilings.begin(), tilings.end(),
                         [](const Tiling& a, const Tiling& b) { return a.time < b.time; });
    }

    void note(const TilingCounts& counts) const {
        known_.evaluated += counts.evaluated;
        known_.too_large += counts.too_large;
    }

    void make_kernels(const BoxSet& set, std::vector<Tiling>& tilings) const {
        if (tilings.empty()) return;
        const State state = *fused(set);
        const std::string name = name_of(set);
        TilingCounts splits;
        for (Tiling& split :
             best_splits(state, name, kernels_.machine, kMostSplits, splits, options_.deadline))
            tilings.push_back(std::move(split));
        known_.evaluated += splits.evaluated;
        choose_kernels(set, state, kernels_, tilings);
    }

    void choose_kernels(const BoxSet& set, const State& state, const KernelSearch& kernels,
                        std::vector<Tiling>& tilings) const {
        KernelCounts counts;
        tilings = best_kernels(state, name_of(set), tilings, kernels, kMostKept, counts);
        known_.kernels += counts.evaluated;
        known_.not_served += counts.not_served;
        for (Fault& fault : counts.faults) {
            std::vector<Command> before = start_.commands;
            if (const auto fusion = fusion_of(set)) before.push_back(*fusion);
            fault.commands.insert(fault.commands.begin(), before.begin(), before.end());
            known_.faults.push_back(std::move(fault));
        }
    }

    /// A few tilings of each at once; then, as long as there is time, those of their kernels that
    /// are fastest as they stand.
    void tile_single_boxes() const {
        if (rival_.value < kNever) return;
        std::vector<const Kind*> kinds;
        for (const Kind& kind : kinds_)
            if (!kind.is_tiled() && !kind.known->first) kinds.push_back(&kind);
        for (const Kind* kind : kinds) {
            const BoxSet& set = sets_[kind->set];
            TilingCounts counts;
            kind->known->first =
                first_tilings(*fused(set), name_of(set), kernels_.machine, kMostKept, counts);
            note(counts);
        }
        if (kernels_.request.target.empty()) return;
        KernelSearch as_they_are = kernels_;
        as_they_are.starts = 0;
        for (const Kind* kind : kinds) {
            if (is_stopped()) return;
            const BoxSet& set = sets_[kind->set];
            std::vector<Tiling> made = *kind->known->first;
            if (made.size() > kMostFirst) made.resize(kMostFirst);
            choose_kernels(set, *fused(set), as_they_are, made);
            if (!made.empty()) kind->known->first = std::move(made);
        }
    }

    /// Tiles what stands in the fastest partition until all of it is tiled, or it is no faster than
    /// the rival.
    void tile_partitions() {
        while (!is_stopped()) {
            std::vector<double> times;
            for (const Member& member : members_) times.push_back(kinds_[member.kind].seconds());
            const std::optional<std::vector<std::size_t>> path = cuts_->shortest(times);
            if (!path) return;
            double total = 0;
            for (const std::size_t set : *path) total += times[set];
            if (total >= rival_.value) return;
            const auto open = std::find_if(path->begin(), path->end(), [&](std::size_t set) {
                return !kinds_[members_[set].kind].is_tiled();
            });
            if (open == path->end()) return;
            tile_kind(kinds_[members_[*open].kind]);
        }
    }

    /// The fastest partition of what is found.
    void choose_partition() {
        std::vector<double> times;
        for (const Member& member : members_) {
            const std::vector<Tiling>* found = kinds_[member.kind].found();
            times.push_back(found == nullptr || found->empty() ? kNever
                                                               : found->front().time.value);
        }
        if (auto path = cuts_->shortest(times)) partition_ = std::move(*path);
    }

    [[nodiscard]] const std::vector<Tiling>& tilings_of(std::size_t set) const {
        return *kinds_[members_[set].kind].found();
    }

    /// A tiling of a region's kind, with the names of this region.
    [[nodiscard]] std::vector<Command> commands_of(std::size_t set, std::size_t tiling) const {
        const Member& member = members_[set];
        const std::vector<std::string>& axes = kinds_[member.kind].known->axes;
        std::vector<Command> commands = tilings_of(set)[tiling].commands;
        bool is_split = false;
        for (Command& command : commands) {
            const auto place = std::find(axes.begin(), axes.end(), command.names.front());
            invariant(place != axes.end(), "a tiling of an axis that its region lacks");
            command.names = {
                plain_.diagram[member.axes[static_cast<std::size_t>(place - axes.begin())]].name};
            command.in = partition_.size() == 1 && !is_split ? "" : name_of(sets_[set]);
            is_split = is_split || command.rule == "split-stream";
        }
        for (Command& command :
             napkin::commands_of(tilings_of(set)[tiling].schedule,
                                 partition_.size() == 1 ? "" : name_of(sets_[set])))
            commands.push_back(std::move(command));
        return commands;
    }

    /// The best tiling of every region, and each variation of one of them.
    [[nodiscard]] std::vector<Choice> choices() const {
        Seconds best;
        for (const std::size_t set : partition_) best += tilings_of(set).front().time;
        std::vector<Choice> all{{0, 0, best}};
        for (std::size_t r = 0; r < partition_.size(); ++r) {
            const std::vector<Tiling>& list = tilings_of(partition_[r]);
            for (std::size_t k = 1; k < list.size(); ++k)
                all.push_back({r, k, best - list.front().time + list[k].time});
        }
        std::stable_sort(all.begin(), all.end(),
                         [](const Choice& a, const Choice& b) { return a.time < b.time; });
        return all;
    }

    /// Lets a region's maxima stay as they are where that is faster; false where its derivation
    /// does not take that.
    [[nodiscard]] bool make_stale(const RegionProgram& region, const KernelRequest& request,
                                  RegionCost& cost, Candidate& candidate) const {
        if (!cost.work) return true;
        auto stale = faster_stale(region, cost, *cost.work, request, BlockClock(kernels_.machine));
        if (!stale) return true;
        const bool alone = candidate.state.relabelling.regions.size() == 1;
        std::vector<Command> commands =
            napkin::commands_of(stale->schedule, alone ? "" : region.name);
        std::optional<State> state = after(candidate.state, commands);
        if (!state) return false;
        candidate.state = std::move(*state);
        for (Command& command : commands) candidate.commands.push_back(std::move(command));
        cost.work = std::move(stale->work);
        return true;
    }

    /// Derives a choice from the plain diagram and costs what comes out, of the first few with
    /// choices that take long to look at.
    [[nodiscard]] std::optional<Candidate> derive(const Choice& choice, bool is_tried) const {
        Candidate candidate;
        for (const std::size_t set : partition_)
            if (std::optional<Command> fusion = fusion_of(sets_[set]))
                candidate.commands.push_back(std::move(*fusion));
        for (std::size_t r = 0; r < partition_.size(); ++r)
            for (Command& command : commands_of(partition_[r], choice.of(r)))
                candidate.commands.push_back(std::move(command));
        std::optional<State> state = after(plain_, candidate.commands);
        if (!state) return std::nullopt;
        candidate.state = std::move(*state);
        const Result<TileProgram> program = expand(candidate.state, OpaqueBoxes::Keep);
        if (!program) return std::nullopt;
        Result<Cost> cost = cost_of(*program);
        const Result<WantedKernels> wanted = WantedKernels::of(candidate.state, kernels_.request);
        if (!cost || !wanted) return std::nullopt;
        for (std::size_t r = 0; r < cost->regions.size(); ++r) {
            RegionCost& region = cost->regions[r];
            if (!kernels_.request.target.empty()) {
                const KernelRequest request = (*wanted)(region.name);
                add_work(program->regions[r], request, region);
                if (is_tried && !make_stale(program->regions[r], request, region, candidate))
                    return std::nullopt;
            }
            if (region.refused || !excesses_of(region, kernels_.machine).empty())
                return std::nullopt;
            // Of what there was no time for nobody has asked the target.
            if (is_stopped() && kernels_.serves &&
                !kernels_.serves(candidate.state, program->regions[r]))
                return std::nullopt;
        }
        candidate.cost = std::move(*cost);
        candidate.time = time_of(candidate.cost, kernels_.machine);
        candidate.commands.insert(candidate.commands.begin(), start_.commands.begin(),
                                  start_.commands.end());
        return candidate;
    }

    void derive_best() {
        std::vector<Candidate>& ranked = result_.ranked;
        for (const Choice& choice : choices()) {
            if (ranked.size() >= std::max(options_.top, kMostStale)) break;
            if (!ranked.empty() && is_stopped()) break;
            const bool is_tried = ranked.size() < kMostStale && !is_stopped();
            if (std::optional<Candidate> candidate = derive(choice, is_tried))
                ranked.push_back(std::move(*candidate));
        }
        std::stable_sort(ranked.begin(), ranked.end(), [](const Candidate& a, const Candidate& b) {
            return a.time.middle() < b.time.middle();
        });
    }

    const Start& start_;
    const State& plain_;
    const SearchOptions& options_;
    Seconds rival_;
    KernelSearch kernels_;
    BoxGraph graph_;
    std::vector<std::string> names_;  ///< of the boxes
    std::vector<BoxSet> sets_;
    std::optional<Cuts> cuts_;
    std::vector<Member> members_;  ///< by set
    std::vector<Kind> kinds_;
    std::map<std::string, std::size_t> places_;  ///< of kinds, by their texts
    std::vector<std::size_t> partition_;         ///< sets
    Known& known_;
    WholeResult result_;
};

}  // namespace

WholeResult search_whole(const Start& start, const Machine& machine, const SearchOptions& options,
                         Seconds rival, Known& known) {
    return WholeSearch(start, machine, options, rival, known).run();
}

}  // namespace napkin
