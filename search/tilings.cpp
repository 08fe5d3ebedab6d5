#include "search/tilings.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "derive/tile_program.h"
#include "perfmodel/block_time.h"
#include "perfmodel/prepared_cost.h"

namespace napkin {

namespace {

/// Combinations of group sizes looked at for one choice of axes.
constexpr std::size_t kMostCombinations = 400;

Command sized(const char* rule, const std::string& axis, std::int64_t size,
              const std::string& region) {
    Command command;
    command.rule = rule;
    command.names = {axis};
    command.size = size;
    command.at = "l1";
    command.in = region;
    return command;
}

Command ungroup(const std::string& axis, const std::string& region) {
    Command command;
    command.rule = "ungroup";
    command.names = {axis};
    command.in = region;
    return command;
}

/// An axis whose size is searched.
struct SizeChoice {
    AxisId axis;
    bool is_stream = false;
    bool regroups = false;  ///< a woven axis, grouped by 1 so far
    std::vector<std::int64_t> sizes;
};

/// Sizes worth trying: small ones, then whole and one and a half powers of two, then the axis.
std::vector<std::int64_t> group_sizes(std::int64_t extent) {
    std::vector<std::int64_t> sizes;
    for (std::int64_t size : {1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512})
        if (size < extent) sizes.push_back(size);
    sizes.push_back(extent);
    return sizes;
}

std::vector<std::int64_t> stream_sizes(std::int64_t extent) {
    std::vector<std::int64_t> sizes;
    for (std::int64_t size : {128, 64, 32, 16, 8, 1})
        if (size < extent) sizes.push_back(size);
    if (sizes.empty()) sizes.push_back(extent);
    return sizes;
}

/// Thins the longest lists, first and last kept, until few enough combinations remain.
void thin(std::vector<SizeChoice>& choices) {
    const auto combinations = [&] {
        double count = 1;
        for (const SizeChoice& choice : choices)
            if (!choice.is_stream) count *= static_cast<double>(choice.sizes.size());
        return count;
    };
    while (combinations() > static_cast<double>(kMostCombinations)) {
        SizeChoice& longest = *std::max_element(choices.begin(), choices.end(),
                                                [](const SizeChoice& a, const SizeChoice& b) {
                                                    return a.sizes.size() < b.sizes.size();
                                                });
        if (longest.sizes.size() <= 2) return;
        std::vector<std::int64_t> kept;
        for (std::size_t k = 0; k < longest.sizes.size(); ++k)
            if (k % 2 == 0 || k + 1 == longest.sizes.size()) kept.push_back(longest.sizes[k]);
        if (kept.size() == longest.sizes.size()) kept.erase(kept.begin() + 1);
        longest.sizes = std::move(kept);
    }
}

const Region& region_of(const State& state, const std::string& name) {
    const auto found = find_region(state, name);
    invariant(std::holds_alternative<std::size_t>(found), "a region of the search is gone");
    return state.relabelling.regions[std::get<std::size_t>(found)];
}

/// Sizes of one space that fit.
struct Found {
    Seconds time;
    double moved = 0;      ///< bytes
    double held_bits = 0;  ///< by a block
    std::size_t space = 0;
    std::vector<std::size_t> picks;

    bool operator<(const Found& other) const {
        if (time != other.time) return time < other.time;
        if (moved != other.moved) return moved < other.moved;
        return held_bits < other.held_bits;
    }
};

class RegionSearch {
public:
    RegionSearch(const State& state, std::string region, const Machine& machine,
                 TilingCounts& counts)
        : plain_(state),
          region_(std::move(region)),
          clock_(machine),
          capacity_(machine.capacity(Level::Block)),
          counts_(counts) {}

    std::vector<Tiling> run(std::size_t top);

private:
    void with_stream(std::optional<AxisId> streamed);
    void evaluate(const RegionProgram& nominal, const std::vector<SizeChoice>& choices);
    /// Nothing where the tiling does not fit.
    std::optional<Found> evaluate_one(PreparedCost& cost, const std::vector<std::size_t>& picks);
    [[nodiscard]] std::vector<AxisId> axes() const;
    [[nodiscard]] bool is_shared(AxisId axis) const;
    [[nodiscard]] std::string name_of_axis(AxisId axis) const { return plain_.diagram[axis].name; }
    [[nodiscard]] std::string in() const {
        return plain_.relabelling.regions.size() == 1 ? "" : region_;
    }
    [[nodiscard]] std::vector<Command> commands(const std::vector<SizeChoice>& choices,
                                                const std::vector<std::size_t>& picks) const;

    const State& plain_;
    std::string region_;
    BlockClock clock_;
    std::optional<Bytes> capacity_;
    TilingCounts& counts_;
    std::vector<std::vector<SizeChoice>> spaces_;
    std::vector<Found> found_;
};

std::vector<AxisId> RegionSearch::axes() const {
    std::set<AxisId> axes;
    for (StatementId id : region_of(plain_, region_).statements)
        for (AxisId axis : axes_of(plain_.diagram, plain_.diagram[id])) axes.insert(axis);
    return {axes.begin(), axes.end()};
}

/// Whether some loaded array lacks the axis, so that larger groups save transfers.
bool RegionSearch::is_shared(AxisId axis) const {
    const std::vector<ArrayId> loads = loads_of(plain_.diagram, region_of(plain_, region_));
    return std::any_of(loads.begin(), loads.end(), [&](ArrayId array) {
        const std::vector<AxisId>& own = plain_.diagram[array].axes;
        return plain_.diagram[array].role != ArrayRole::Parameter && !own.empty() &&
               std::find(own.begin(), own.end(), axis) == own.end();
    });
}

void RegionSearch::with_stream(std::optional<AxisId> streamed) {
    State state = plain_;
    std::vector<SizeChoice> choices;
    if (streamed) {
        const std::int64_t extent = state.diagram[*streamed].extent;
        Outcome next = apply(state, sized("stream", name_of_axis(*streamed), 1, in()));
        if (!std::holds_alternative<State>(next)) return;
        state = std::get<State>(std::move(next));
        choices.push_back({*streamed, true, false, stream_sizes(extent)});
    }
    for (AxisId axis : axes()) {
        const Region& region = region_of(state, region_);
        const bool grouped = std::any_of(region.groups.begin(), region.groups.end(),
                                         [&](const Group& group) { return group.axis == axis; });
        const std::int64_t extent = state.diagram[axis].extent;
        if (grouped) {
            if (is_shared(axis)) choices.push_back({axis, false, true, group_sizes(extent)});
            continue;
        }
        Outcome next = apply(state, sized("group", name_of_axis(axis), 1, in()));
        if (!std::holds_alternative<State>(next)) continue;
        state = std::get<State>(std::move(next));
        choices.push_back({axis, false, false, group_sizes(extent)});
    }
    const Result<RegionProgram> program =
        expand(state, region_of(state, region_), OpaqueBoxes::Keep);
    if (!program) return;
    thin(choices);
    evaluate(*program, choices);
    spaces_.push_back(std::move(choices));
}

/// Of the chunks that fit a choice of groups the fastest is kept; where no mask leaves any out
/// their size changes memory alone, and the largest will do. Sizes of chunks fall.
void RegionSearch::evaluate(const RegionProgram& nominal, const std::vector<SizeChoice>& choices) {
    std::vector<SizeList> lists;
    for (const SizeChoice& choice : choices)
        lists.push_back({choice.is_stream ? stream_size(choice.axis, Level::Block)
                                          : group_size(choice.axis, Level::Block),
                         choice.sizes});
    PreparedCost cost(nominal, std::move(lists));
    const std::size_t first = !choices.empty() && choices.front().is_stream ? 1 : 0;
    std::vector<std::size_t> picks(choices.size(), 0);
    while (true) {
        std::optional<Found> best = evaluate_one(cost, picks);
        while (first == 1 && ++picks.front() < choices.front().sizes.size()) {
            std::optional<Found> found = evaluate_one(cost, picks);
            if (found && (!best || found->time < best->time)) best = std::move(found);
        }
        if (best) found_.push_back(std::move(*best));
        std::size_t at = first;
        if (first == 1) picks.front() = 0;
        while (at < picks.size() && ++picks[at] == choices[at].sizes.size()) picks[at++] = 0;
        if (at >= picks.size()) return;
    }
}

std::optional<Found> RegionSearch::evaluate_one(PreparedCost& cost,
                                                const std::vector<std::size_t>& picks) {
    const double held = cost.held_bits(picks);
    if (std::isinf(held) || (capacity_ && held / 8 > capacity_->value)) {
        ++counts_.too_large;
        return std::nullopt;
    }
    const KernelWork work = cost.work(picks);
    if (std::isinf(work.loaded + work.saved)) return std::nullopt;
    ++counts_.evaluated;
    return Found{clock_.middle_of(work), work.loaded + work.saved, held, spaces_.size(), picks};
}

std::vector<Command> RegionSearch::commands(const std::vector<SizeChoice>& choices,
                                            const std::vector<std::size_t>& picks) const {
    std::vector<Command> result;
    for (std::size_t k = 0; k < choices.size(); ++k) {
        const SizeChoice& choice = choices[k];
        const std::string name = name_of_axis(choice.axis);
        const std::int64_t size = choice.sizes[picks[k]];
        const bool is_whole = size == plain_.diagram[choice.axis].extent;
        if (choice.is_stream) continue;
        if (choice.regroups && size == 1) continue;
        if (choice.regroups) result.push_back(ungroup(name, in()));
        if (!is_whole) result.push_back(sized("group", name, size, in()));
    }
    for (std::size_t k = 0; k < choices.size(); ++k)
        if (choices[k].is_stream)
            result.push_back(
                sized("stream", name_of_axis(choices[k].axis), choices[k].sizes[picks[k]], in()));
    return result;
}

std::vector<Tiling> RegionSearch::run(std::size_t top) {
    with_stream(std::nullopt);
    for (AxisId axis : axes()) with_stream(axis);
    std::stable_sort(found_.begin(), found_.end());
    std::vector<Tiling> best;
    for (std::size_t k = 0; k < std::min(top, found_.size()); ++k)
        best.push_back({commands(spaces_[found_[k].space], found_[k].picks), found_[k].time,
                        static_cast<std::int64_t>(8 * found_[k].moved),
                        static_cast<std::int64_t>(found_[k].held_bits)});
    return best;
}

}  // namespace

std::vector<Tiling> best_tilings(const State& state, const std::string& region,
                                 const Machine& machine, std::size_t top, TilingCounts& counts) {
    return RegionSearch(state, region, machine, counts).run(top);
}

}  // namespace napkin
