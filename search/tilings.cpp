#include "search/tilings.h"

#include <algorithm>
#include <optional>

#include "derive/tile_program.h"
#include "perfmodel/cost.h"
#include "perfmodel/resize.h"
#include "perfmodel/time.h"

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

class RegionSearch {
public:
    RegionSearch(const State& state, std::string region, const Machine& machine,
                 TilingCounts& counts)
        : plain_(state), region_(std::move(region)), machine_(machine), counts_(counts) {}

    std::vector<Tiling> run(std::size_t top);

private:
    void with_stream(std::optional<AxisId> streamed);
    void evaluate(const RegionProgram& nominal, const std::vector<SizeChoice>& choices);
    /// False where no chunk size fits.
    bool evaluate_groups(const RegionProgram& nominal, const std::vector<SizeChoice>& choices,
                         std::vector<std::size_t>& picks);
    [[nodiscard]] SymbolValues sizes_of(const std::vector<SizeChoice>& choices,
                                        const std::vector<std::size_t>& picks) const;
    [[nodiscard]] bool fits(const RegionProgram& program) const;
    /// False where the tiling does not fit.
    bool evaluate_one(const RegionProgram& nominal, const std::vector<SizeChoice>& choices,
                      const std::vector<std::size_t>& picks);
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
    const Machine& machine_;
    TilingCounts& counts_;
    std::vector<Tiling> found_;
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
}

// What is held grows with every size. So a tiling whose smallest chunk is too large settles all
// whose groups are no smaller.
void RegionSearch::evaluate(const RegionProgram& nominal, const std::vector<SizeChoice>& choices) {
    const bool streams = !choices.empty() && choices.front().is_stream;
    const std::size_t chunks = streams ? choices.front().sizes.size() : 1;
    std::vector<std::size_t> picks(choices.size(), 0);
    std::vector<std::vector<std::size_t>> too_large;
    while (true) {
        const auto is_larger = [&](const std::vector<std::size_t>& known) {
            for (std::size_t k = 0; k < picks.size(); ++k)
                if (picks[k] < known[k]) return false;
            return true;
        };
        if (std::any_of(too_large.begin(), too_large.end(), is_larger)) {
            counts_.too_large += static_cast<std::int64_t>(chunks);
        } else if (!evaluate_groups(nominal, choices, picks)) {
            if (streams) picks.front() = 0;
            too_large.push_back(picks);
        }
        std::size_t at = streams ? 1 : 0;
        if (streams) picks.front() = 0;
        while (at < picks.size() && ++picks[at] == choices[at].sizes.size()) picks[at++] = 0;
        if (at >= picks.size()) return;
    }
}

/// Without a mask the chunk size changes memory alone, so the largest that fits will do; sizes of
/// chunks fall. False where none fits.
bool RegionSearch::evaluate_groups(const RegionProgram& nominal,
                                   const std::vector<SizeChoice>& choices,
                                   std::vector<std::size_t>& picks) {
    if (choices.empty() || !choices.front().is_stream) return evaluate_one(nominal, choices, picks);
    const std::size_t smallest = choices.front().sizes.size() - 1;
    picks.front() = smallest;
    if (!fits(resized(nominal, sizes_of(choices, picks)))) {
        counts_.too_large += static_cast<std::int64_t>(smallest) + 1;
        return false;
    }
    for (picks.front() = 0; picks.front() <= smallest; ++picks.front())
        if (evaluate_one(nominal, choices, picks)) return true;
    return true;
}

SymbolValues RegionSearch::sizes_of(const std::vector<SizeChoice>& choices,
                                    const std::vector<std::size_t>& picks) const {
    SymbolValues sizes;
    for (std::size_t k = 0; k < choices.size(); ++k) {
        const AxisId axis = choices[k].axis;
        sizes[choices[k].is_stream ? stream_size(axis, Level::Block)
                                   : group_size(axis, Level::Block)] = choices[k].sizes[picks[k]];
    }
    return sizes;
}

bool RegionSearch::fits(const RegionProgram& program) const {
    const std::optional<std::int64_t> held = allocated_bits(program, Level::Block);
    const std::optional<Bytes> capacity = machine_.capacity(Level::Block);
    return held && (!capacity || static_cast<double>(*held) / 8 <= capacity->value);
}

bool RegionSearch::evaluate_one(const RegionProgram& nominal,
                                const std::vector<SizeChoice>& choices,
                                const std::vector<std::size_t>& picks) {
    const RegionProgram program = resized(nominal, sizes_of(choices, picks));
    if (!fits(program)) {
        ++counts_.too_large;
        return false;
    }
    const Result<RegionCost> cost = quick_cost_of(program);
    if (!cost) return false;
    ++counts_.evaluated;
    const LevelCost& block = cost->levels.at(Level::Block);
    found_.push_back({commands(choices, picks), time_of(*cost, machine_).middle(),
                      block.transferred.bits, block.allocated.bits});
    return true;
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
    std::stable_sort(found_.begin(), found_.end(), [](const Tiling& a, const Tiling& b) {
        if (a.time != b.time) return a.time < b.time;
        if (a.transferred_bits != b.transferred_bits)
            return a.transferred_bits < b.transferred_bits;
        return a.allocated_bits < b.allocated_bits;
    });
    if (found_.size() > top) found_.resize(top);
    return std::move(found_);
}

}  // namespace

std::vector<Tiling> best_tilings(const State& state, const std::string& region,
                                 const Machine& machine, std::size_t top, TilingCounts& counts) {
    return RegionSearch(state, region, machine, counts).run(top);
}

}  // namespace napkin
