#include "search/kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "derive/tile_program.h"
#include "perfmodel/block_time.h"
#include "perfmodel/time.h"
#include "search/choices.h"
#include "search/least_time.h"
#include "search/parts.h"

namespace napkin {
namespace {

/// Sizes of groups and chunks that are a step apart.
constexpr std::array<std::int64_t, 21> kLadder = {
    1, 2, 4, 8, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256, 384, 512, 1024};

/// A tiling with the kernel that it makes.
struct Made {
    Tiling tiling;
    bool tensor_core = false;  ///< of those of a split region, the one that takes longest
    Seconds longest = {};
    std::int64_t blocks = 0;
    bool exact = true;  ///< its loops were rotated for its own sizes
};

/// Indices of all chunks together.
std::int64_t streamed(const Made& made) {
    std::int64_t all = 0;
    for (const Command& command : made.tiling.commands)
        if (command.rule == "stream") all += command.size.value_or(0);
    return all;
}

class KernelClimb {
public:
    KernelClimb(const State& state, const std::string& region, const KernelSearch& search,
                std::size_t top, KernelCounts& counts)
        : state_(state),
          region_(region),
          search_(search),
          clock_(search.machine),
          top_(top),
          counts_(counts) {
        for (const Region& each : state.relabelling.regions)
            others_.insert(region_name(state.diagram, each));
        others_.erase(region);
    }

    std::vector<Tiling> run(const std::vector<Tiling>& rough) {
        for (const Tiling& tiling : rough)
            if (!is_over()) make(tiling.commands);
        std::vector<Tiling> kept = best_served();
        // None that the target makes is left, or far slower ones: then plain ones.
        if (!kept.empty() && !is_far_behind(kept.front())) return kept;
        for_tensor_core_ = false;
        std::vector<Tiling> plain = best_served();
        return plain.empty() ? kept : plain;
    }

private:
    /// Whether some plain kernel takes much less.
    [[nodiscard]] bool is_far_behind(const Tiling& best) const {
        constexpr double kFar = 1.5;
        return std::any_of(known_.begin(), known_.end(), [&](const auto& each) {
            const std::optional<Made>& made = each.second;
            return made && !made->tensor_core && kFar * made->tiling.time < best.time;
        });
    }

    /// The best that are found from those that are known.
    std::vector<Tiling> best_served() {
        for (const Made& start : starts()) climb_in_parts(climb(start));
        std::vector<Made> all = ranked();
        for (; !all.empty() && !all.front().exact && !is_over(); all = ranked())
            known_[key_of(all.front().tiling.commands)] = costed(all.front().tiling.commands, {});
        std::vector<Tiling> kept;
        for (Made& made : all) {
            if (kept.size() == top_) break;
            made.tiling.commands = without_whole_groups(std::move(made.tiling.commands));
            if (is_kept(made.tiling.commands, kept)) continue;
            if (serves(made.tiling.commands))
                kept.push_back(std::move(made.tiling));
            else
                ++counts_.not_served;
        }
        return kept;
    }

    /// A group of all indices is none. While sizes are changed it stays, since it may be halved.
    [[nodiscard]] std::vector<Command> without_whole_groups(std::vector<Command> commands) const {
        std::erase_if(commands, [&](const Command& command) {
            if (command.rule != "group") return false;
            const auto axis = find_axis(state_.diagram, command.names.front());
            return axis && command.size == state_.diagram[*axis].extent;
        });
        return commands;
    }
    static bool is_kept(const std::vector<Command>& commands, const std::vector<Tiling>& kept) {
        return std::any_of(kept.begin(), kept.end(),
                           [&](const Tiling& tiling) { return tiling.commands == commands; });
    }

    /// Kernels of the wanted kind first, then by their time; of equals those with fewer turns.
    [[nodiscard]] bool is_better(const Made& a, const Made& b) const {
        if (a.tensor_core != b.tensor_core) return a.tensor_core == for_tensor_core_;
        if (a.tiling.time != b.tiling.time) return a.tiling.time < b.tiling.time;
        if (streamed(a) != streamed(b)) return streamed(a) > streamed(b);
        return a.tiling.allocated_bits < b.tiling.allocated_bits;
    }

    /// Whether what was made has to do.
    [[nodiscard]] bool is_over() const {
        return is_any_made_ && search_.request.limits.deadline.is_past();
    }

    static bool is_splitting(const Command& command) { return command.rule == "split-stream"; }

    static bool is_split(const Made& made) {
        const auto& commands = made.tiling.commands;
        return std::any_of(commands.begin(), commands.end(), is_splitting);
    }

    /// The best, and the best of some other structures that are not far behind; where these are all
    /// in parts, the best of some in one piece, since other sizes may save what parts save.
    [[nodiscard]] std::vector<Made> starts() const {
        constexpr std::size_t kMostOthers = 4;
        constexpr std::size_t kMostWhole = 4;
        constexpr double kFar = 3;
        std::vector<Made> all = ranked();
        std::vector<Made> chosen;
        if (search_.starts == 0) return chosen;
        std::set<std::string> structures;
        for (const Made& made : all) {
            const std::string structure = structure_of(made.tiling.commands);
            const bool is_best = chosen.size() < search_.starts;
            if (!is_best && (chosen.size() >= search_.starts + kMostOthers ||
                             made.tiling.time > kFar * all.front().tiling.time ||
                             structures.contains(structure)))
                continue;
            structures.insert(structure);
            chosen.push_back(made);
        }
        if (!std::all_of(chosen.begin(), chosen.end(), is_split)) return chosen;
        const std::size_t most = chosen.size() + kMostWhole;
        for (const Made& made : all)
            if (chosen.size() < most && !is_split(made) &&
                structures.insert(structure_of(made.tiling.commands)).second)
                chosen.push_back(made);
        return chosen;
    }

    /// A region that is tiled; where its stream is split, what puts the parts together too.
    struct Tiled {
        State state;
        std::vector<RegionProgram> regions;
    };
    [[nodiscard]] std::optional<Tiled> tiled(const std::vector<Command>& commands) const {
        std::optional<State> state = after(state_, commands);
        if (!state) return std::nullopt;
        Tiled tiled{std::move(*state), {}};
        for (const Region& region : tiled.state.relabelling.regions) {
            if (others_.contains(region_name(tiled.state.diagram, region))) continue;
            Result<RegionProgram> program = expand(tiled.state, region, OpaqueBoxes::Keep);
            if (!program) return std::nullopt;
            tiled.regions.push_back(std::move(program).value());
        }
        return tiled;
    }

    [[nodiscard]] bool serves(const std::vector<Command>& commands) const {
        if (!search_.serves) return true;
        const auto made = tiled(commands);
        return made && std::all_of(made->regions.begin(), made->regions.end(),
                                   [&](const RegionProgram& region) {
                                       return search_.serves(made->state, region);
                                   });
    }

    static std::string key_of(const std::vector<Command>& commands) {
        std::string key;
        for (const Command& command : commands) key += print(command) + "\n";
        return key;
    }

    static std::string structure_of(std::vector<Command> commands) {
        for (Command& command : commands) command.size.reset();
        return key_of(commands);
    }

    /// Costs the kernel of a tiling, once; nothing where it does not fit or spills.
    const std::optional<Made>& make(const std::vector<Command>& commands) {
        const auto [known, is_new] = known_.try_emplace(key_of(commands));
        if (!is_new) return known->second;
        known->second = costed(commands, structure_of(commands));
        is_any_made_ = is_any_made_ || known->second;
        return known->second;
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
        std::vector<RegionCost> costs;
        Seconds least;
        for (const RegionProgram& region : made->regions) {
            Result<RegionCost> cost = quick_cost_of(region);
            if (!cost) return std::nullopt;
            least += least_time(*cost, search_.machine, clock_);
            costs.push_back(std::move(cost).value());
        }
        if (least > slowest_kept()) return std::nullopt;
        if (!structure.empty()) ++counts_.evaluated;
        Made total{{commands, {}, 0, 0}};
        for (std::size_t i = 0; i < costs.size(); ++i)
            if (!add_kernel(made->regions[i], structure, costs[i], total)) return std::nullopt;
        if (total.tensor_core) times_.insert(total.tiling.time.value);
        return total;
    }

    /// Adds what a region's kernel takes; false where it does not fit or spills.
    bool add_kernel(const RegionProgram& region, const std::string& structure, RegionCost& cost,
                    Made& total) {
        const std::string place = structure.empty() ? "" : structure + region.name;
        const bool exact = structure.empty() || !add_known_work(region, place, cost);
        if (exact) {
            add_work(region, search_.request, cost);
            if (cost.work && !structure.empty()) note_rotation(place, *cost.work);
        }
        if (!cost.work || cost.work->spills() || !excesses_of(cost, search_.machine).empty())
            return false;
        // What is chosen is said of a region by name, and a split one has two.
        if (!is_split(total))
            if (auto chosen = faster_blocks(region, cost, *cost.work, search_.request, clock_)) {
                total.tiling.schedule = std::move(chosen->schedule);
                cost.work = std::move(chosen->work);
            }
        const LevelCost& block = cost.levels.at(Level::Block);
        const Seconds time = clock_.middle_of(*cost.work);
        total.tiling.time += time;
        total.tiling.transferred_bits += block.transferred.bits;
        total.tiling.allocated_bits = std::max(total.tiling.allocated_bits, block.allocated.bits);
        if (time > total.longest) {
            total.longest = time;
            total.blocks = cost.work->blocks;
            total.tensor_core = search_.request.target == "simt" || cost.work->tensor_core;
        }
        total.exact = total.exact && exact;
        return true;
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
        auto alone = faster_alone(region, cost, search_.request, *made);
        cost.work = alone ? std::move(alone) : std::optional(std::move(*made));
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
    Made climb(Made best) {
        while (true) {
            const std::vector<Command> from = best.tiling.commands;
            const auto try_from = [&](const std::vector<Command>& commands, std::size_t first) {
                for (std::size_t at = first; at < commands.size(); ++at)
                    for (const std::int64_t size : steps_from(commands[at])) {
                        if (is_over()) return;
                        std::vector<Command> changed = commands;
                        changed[at].size = size;
                        const std::optional<Made>& made = make(changed);
                        if (made && is_better(*made, best)) best = *made;
                    }
            };
            try_from(from, 0);
            if (const auto whole = in_one_piece(from)) {
                const std::optional<Made>& made = make(*whole);
                if (made && is_better(*made, best)) best = *made;
            }
            for (std::size_t at = 0; at < from.size() && best.tiling.commands == from; ++at)
                for (const std::int64_t size : steps_from(from[at])) {
                    std::vector<Command> changed = from;
                    changed[at].size = size;
                    try_from(changed, at + 1);
                }
            if (best.tiling.commands == from || is_over()) return best;
        }
    }

    /// From the best of the ways in which a kernel of few blocks may run in parts: a way of its own
    /// to the best, since sizes in one piece are others.
    void climb_in_parts(const Made& whole) {
        if (is_split(whole) || is_over()) return;
        std::optional<Made> best;
        for (const std::vector<Command>& commands :
             ways_in_parts(state_, region_, whole.tiling.commands, whole.blocks,
                           search_.machine.processors())) {
            if (is_over()) return;
            const std::optional<Made>& made = make(commands);
            if (made && (!best || is_better(*made, *best))) best = *made;
        }
        if (best) climb(std::move(*best));
    }

    [[nodiscard]] std::vector<std::int64_t> steps_from(const Command& command) const {
        const bool parts = command.rule == "split-stream";
        if (command.rule != "group" && command.rule != "stream" && !parts) return {};
        const auto axis = find_axis(state_.diagram, command.names.front());
        if (!axis) return {};
        const std::int64_t extent = state_.diagram[*axis].extent;
        return sizes_beside(*command.size, parts ? extent - 1 : extent);
    }

    /// Without parts, and without what is said of the kernel that puts them together.
    static std::optional<std::vector<Command>> in_one_piece(const std::vector<Command>& commands) {
        const auto split = std::find_if(commands.begin(), commands.end(), is_splitting);
        if (split == commands.end()) return std::nullopt;
        return std::vector<Command>(commands.begin(), split);
    }

    [[nodiscard]] std::vector<Made> ranked() const {
        std::vector<Made> all;
        for (const auto& [key, made] : known_)
            if (made) all.push_back(*made);
        const auto is_other = [&](const Made& made) {
            return made.tensor_core != for_tensor_core_;
        };
        if (!std::all_of(all.begin(), all.end(), is_other)) std::erase_if(all, is_other);
        std::stable_sort(all.begin(), all.end(),
                         [&](const Made& a, const Made& b) { return is_better(a, b); });
        return all;
    }

    const State& state_;
    const std::string& region_;
    std::set<std::string> others_;  ///< names of regions that are left alone
    const KernelSearch& search_;
    BlockClock clock_;
    std::size_t top_;
    KernelCounts& counts_;
    std::multiset<double> times_;  ///< of kernels that are wanted, seconds
    std::map<std::string, std::optional<Made>> known_;
    bool for_tensor_core_ = true;  ///< which kernels are wanted where there are some
    bool is_any_made_ = false;
    /// What schedules chose for the loops of warp groups, which takes most of their time, by the
    /// commands without their sizes.
    std::map<std::string, schedule::RegionSchedule> rotations_;
};

}  // namespace

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
    // And to a power of two, which extents are multiples of.
    const auto bits = static_cast<std::uint64_t>(size);
    for (const std::uint64_t power : {std::bit_floor(bits), std::bit_ceil(bits)})
        if (power != bits) sizes.push_back(static_cast<std::int64_t>(power));
    std::erase_if(sizes, [&](std::int64_t other) { return other > extent; });
    return sizes;
}

std::vector<Tiling> best_kernels(const State& state, const std::string& region,
                                 const std::vector<Tiling>& rough, const KernelSearch& search,
                                 std::size_t top, KernelCounts& counts) {
    return KernelClimb(state, region, search, top, counts).run(rough);
}

}  // namespace napkin
