#include "search/kernels.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "derive/tile_program.h"
#include "perfmodel/time.h"
#include "search/least_time.h"

namespace napkin {
namespace {

/// Sizes of groups and chunks that are a step apart.
constexpr std::array<std::int64_t, 21> kLadder = {
    1, 2, 4, 8, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256, 384, 512, 1024};

/// A tiling with the kernel that it makes.
struct Made {
    Tiling tiling;
    bool tensor_core = false;
    bool exact = true;  ///< its loops were rotated for its own sizes
};

/// Indices of all chunks together.
std::int64_t streamed(const Made& made) {
    std::int64_t all = 0;
    for (const Command& command : made.tiling.commands)
        if (command.rule == "stream") all += command.size.value_or(0);
    return all;
}

/// Kernels for the tensor core first, then by their time; of equals those with fewer turns.
bool is_better(const Made& a, const Made& b) {
    if (a.tensor_core != b.tensor_core) return a.tensor_core;
    if (a.tiling.time != b.tiling.time) return a.tiling.time < b.tiling.time;
    if (streamed(a) != streamed(b)) return streamed(a) > streamed(b);
    return a.tiling.allocated_bits < b.tiling.allocated_bits;
}

class KernelClimb {
public:
    KernelClimb(const State& state, const std::string& region, const KernelSearch& search,
                std::size_t top, KernelCounts& counts)
        : state_(state), region_(region), search_(search), top_(top), counts_(counts) {}

    std::vector<Tiling> run(const std::vector<Tiling>& rough) {
        for (const Tiling& tiling : rough) make(tiling.commands);
        std::vector<Made> starts = ranked();
        starts.resize(std::min(starts.size(), search_.starts));
        for (Made& start : starts) climb(std::move(start));
        std::vector<Made> all = ranked();
        for (; !all.empty() && !all.front().exact; all = ranked())
            known_[key_of(all.front().tiling.commands)] = costed(all.front().tiling.commands, {});
        std::vector<Tiling> kept;
        for (Made& made : all) {
            if (kept.size() == top_) break;
            if (serves(made.tiling.commands))
                kept.push_back(std::move(made.tiling));
            else
                ++counts_.not_served;
        }
        return kept;
    }

private:
    [[nodiscard]] std::optional<std::pair<State, RegionProgram>> tiled(
        const std::vector<Command>& commands) const {
        std::optional<State> state = after(state_, commands);
        if (!state) return std::nullopt;
        const auto found = find_region(*state, region_);
        Result<RegionProgram> program = expand(
            *state, state->relabelling.regions[std::get<std::size_t>(found)], OpaqueBoxes::Keep);
        if (!program) return std::nullopt;
        return std::pair{std::move(*state), std::move(program).value()};
    }

    [[nodiscard]] bool serves(const std::vector<Command>& commands) const {
        if (!search_.serves) return true;
        const auto made = tiled(commands);
        return made && search_.serves(made->first, made->second);
    }

    static std::string key_of(const std::vector<Command>& commands) {
        std::string key;
        for (const Command& command : commands) key += print(command) + "\n";
        return key;
    }

    /// Costs the kernel of a tiling, once; nothing where it does not fit or spills.
    const std::optional<Made>& make(const std::vector<Command>& commands) {
        const auto [known, is_new] = known_.try_emplace(key_of(commands));
        if (!is_new) return known->second;
        std::string structure;
        for (Command command : commands) {
            command.size.reset();
            structure += print(command) + "\n";
        }
        return known->second = costed(commands, structure);
    }

    /// With the rotations of other sizes of the same loops where a structure is named.
    std::optional<Made> costed(const std::vector<Command>& commands, const std::string& structure) {
        try {
            return costed_if_right(commands, structure);
        } catch (const InternalError& error) {
            counts_.faults.push_back({commands, error.what()});
            return std::nullopt;
        }
    }

    std::optional<Made> costed_if_right(const std::vector<Command>& commands,
                                        const std::string& structure) {
        const auto made = tiled(commands);
        if (!made) return std::nullopt;
        Result<RegionCost> cost = quick_cost_of(made->second);
        if (!cost || least_time(*cost, search_.machine) > slowest_kept()) return std::nullopt;
        if (!structure.empty()) ++counts_.evaluated;
        const bool exact = structure.empty() || !add_known_work(made->second, structure, *cost);
        if (exact) {
            add_work(made->second, search_.request, *cost);
            if (cost->work && !structure.empty()) note_rotation(structure, *cost->work);
        }
        if (!cost->work || cost->work->spills() || !excesses_of(*cost, search_.machine).empty())
            return std::nullopt;
        const LevelCost& block = cost->levels.at(Level::Block);
        const bool wanted = search_.request.target == "simt" || cost->work->tensor_core;
        const Seconds time = time_of(*cost, search_.machine).middle();
        if (wanted) times_.insert(time.value);
        return Made{{commands, time, block.transferred.bits, block.allocated.bits}, wanted, exact};
    }

    /// Of the kernels that will be kept as things stand, if they are served.
    [[nodiscard]] Seconds slowest_kept() const {
        if (search_.serves || times_.size() < top_)
            return Seconds{std::numeric_limits<double>::infinity()};
        return Seconds{*std::next(times_.begin(), static_cast<std::ptrdiff_t>(top_) - 1)};
    }

    /// Whether the rotations of other sizes serve here too.
    bool add_known_work(const RegionProgram& region, const std::string& structure,
                        RegionCost& cost) const {
        const auto known = rotations_.find(structure);
        if (known == rotations_.end()) return false;
        KernelRequest request = search_.request;
        request.schedule = known->second;
        request.limits.warp_groups = true;
        auto work = tensor_work(region, cost, request);
        KernelWork* made = std::get_if<KernelWork>(&work);
        if (made == nullptr) return false;
        cost.work = std::move(*made);
        return true;
    }

    void note_rotation(const std::string& structure, const KernelWork& work) {
        if (work.groups == 0) return;  // warps that multiply alone are quickly rotated
        schedule::RegionSchedule rotation;
        rotation.leads = work.choices.leads;
        rotation.fetched = work.choices.fetched;
        rotations_[structure] = std::move(rotation);
    }

    /// Changes a size by a step, or twofold, as long as some such change is faster; where none is,
    /// two at once.
    void climb(Made best) {
        while (true) {
            const std::vector<Command> from = best.tiling.commands;
            const auto try_from = [&](const std::vector<Command>& commands, std::size_t first) {
                for (std::size_t at = first; at < commands.size(); ++at)
                    for (const std::int64_t size : steps_from(commands[at])) {
                        std::vector<Command> changed = commands;
                        changed[at].size = size;
                        const std::optional<Made>& made = make(changed);
                        if (made && is_better(*made, best)) best = *made;
                    }
            };
            try_from(from, 0);
            for (std::size_t at = 0; at < from.size() && best.tiling.commands == from; ++at)
                for (const std::int64_t size : steps_from(from[at])) {
                    std::vector<Command> changed = from;
                    changed[at].size = size;
                    try_from(changed, at + 1);
                }
            if (best.tiling.commands == from) return;
        }
    }

    [[nodiscard]] std::vector<std::int64_t> steps_from(const Command& command) const {
        if (command.rule != "group" && command.rule != "stream") return {};
        const auto axis = find_axis(state_.diagram, command.names.front());
        if (!axis) return {};
        return sizes_beside(*command.size, state_.diagram[*axis].extent);
    }

    [[nodiscard]] std::vector<Made> ranked() const {
        std::vector<Made> all;
        for (const auto& [key, made] : known_)
            if (made) all.push_back(*made);
        const bool some =
            std::any_of(all.begin(), all.end(), [](const Made& made) { return made.tensor_core; });
        if (some) std::erase_if(all, [](const Made& made) { return !made.tensor_core; });
        std::stable_sort(all.begin(), all.end(), is_better);
        return all;
    }

    const State& state_;
    const std::string& region_;
    const KernelSearch& search_;
    std::size_t top_;
    KernelCounts& counts_;
    std::multiset<double> times_;  ///< of kernels that are wanted, seconds
    std::map<std::string, std::optional<Made>> known_;
    /// What schedules chose for the loops of warp groups, which takes most of their time, by the
    /// commands without their sizes.
    std::map<std::string, schedule::RegionSchedule> rotations_;
};

}  // namespace

KernelRequest kernels_for(const Machine& machine, const std::string& target) {
    KernelRequest request;
    const bool has_groups = machine.target == "sm_90a";
    request.target = !target.empty() || machine.target.empty() ? target
                     : has_groups                              ? "sm_90a"
                                                               : "sm_80";
    if (const std::optional<Bytes> capacity = machine.capacity(Level::Block))
        request.limits.shared_memory = static_cast<std::int64_t>(capacity->value);
    return request;
}

std::optional<State> after(State state, const std::vector<Command>& commands) {
    for (const Command& command : commands) {
        Outcome next = apply(state, command);
        if (!std::holds_alternative<State>(next)) return std::nullopt;
        state = std::get<State>(std::move(next));
    }
    return state;
}

std::vector<std::int64_t> sizes_beside(std::int64_t size, std::int64_t extent) {
    std::vector<std::int64_t> sizes = {2 * size};
    if (size > 1) sizes.push_back(size / 2);
    const auto next = std::upper_bound(kLadder.begin(), kLadder.end(), size);
    const auto here = std::lower_bound(kLadder.begin(), kLadder.end(), size);
    if (here != kLadder.begin()) sizes.push_back(*(here - 1));
    if (next != kLadder.end()) sizes.push_back(*next);
    std::erase_if(sizes, [&](std::int64_t other) { return other > extent; });
    return sizes;
}

std::vector<Tiling> best_kernels(const State& state, const std::string& region,
                                 const std::vector<Tiling>& rough, const KernelSearch& search,
                                 std::size_t top, KernelCounts& counts) {
    return KernelClimb(state, region, search, top, counts).run(rough);
}

}  // namespace napkin
