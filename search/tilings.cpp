#include "search/tilings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "derive/tile_program.h"
#include "diagrams/contains.h"
#include "diagrams/rounding.h"
#include "perfmodel/block_time.h"
#include "perfmodel/prepared_cost.h"
#include "search/kernels.h"
#include "search/least_time.h"
#include "search/parts.h"
#include "search/tiling_space.h"

namespace napkin {

namespace {

/// Combinations of group sizes looked at for one choice of axes.
constexpr std::size_t kMostCombinations = 400;
/// The same where several long axes are streamed.
constexpr std::size_t kMostOfSeveral = 48;

/// Likewise where a search needs something to begin with.
constexpr std::size_t kMostAtFirst = 32;

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
void thin(std::vector<SizeChoice>& choices, std::size_t most = kMostCombinations) {
    const auto combinations = [&] {
        double count = 1;
        for (const SizeChoice& choice : choices)
            if (!choice.is_stream) count *= static_cast<double>(choice.sizes.size());
        return count;
    };
    while (combinations() > static_cast<double>(most)) {
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

/// Sizes of one space that fit.
struct Found {
    std::int64_t part = 0;  ///< of the stream's axis, where it runs in parts
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

/// As if each block's loop were that many blocks, which all save what one did.
KernelWork work_in_parts(KernelWork work, std::int64_t parts) {
    const auto count = static_cast<double>(parts);
    work.blocks *= parts;
    work.saved *= count;
    for (LoopWork& loop : work.loops) loop.chunk = 1 / count * std::move(loop.chunk);
    return work;
}

class RegionSearch {
public:
    RegionSearch(const State& state, std::string region, const Machine& machine,
                 TilingCounts& counts, const Deadline& deadline,
                 std::size_t most = kMostCombinations)
        : most_(most),
          plain_(state),
          region_(std::move(region)),
          clock_(machine),
          processors_(machine.processors()),
          capacity_(machine.capacity(Level::Block)),
          counts_(counts),
          deadline_(deadline) {}

    std::vector<Tiling> run(std::size_t top);
    std::vector<Tiling> run_in_parts(std::size_t top);

private:
    [[nodiscard]] std::string in() const {
        return plain_.relabelling.regions.size() == 1 ? "" : region_;
    }
    /// Whether what was found has to do.
    [[nodiscard]] bool is_over() const { return !found_.empty() && deadline_.is_past(); }
    [[nodiscard]] std::vector<Found> chosen(std::size_t top);
    [[nodiscard]] std::vector<Tiling> best(std::size_t top);
    void with_stream(std::optional<AxisId> streamed, const std::vector<Around>& around = {},
                     std::size_t most = kMostCombinations);
    [[nodiscard]] std::vector<AxisId> folded_beside(AxisId axis) const;
    [[nodiscard]] std::vector<Around> short_folds(AxisId beside) const;
    [[nodiscard]] std::vector<Around> masked_folds(AxisId beside) const;
    void with_parts(AxisId streamed);
    void evaluate_parts(const TilingSpace& space);
    void evaluate(const TilingSpace& space);
    /// Nothing where the tiling does not fit.
    std::optional<Found> evaluate_one(PreparedCost& cost, const std::vector<std::size_t>& picks);

    std::size_t most_;  ///< combinations of one choice of axes
    const State& plain_;
    std::string region_;
    BlockClock clock_;
    std::int64_t processors_;
    std::optional<Bytes> capacity_;
    TilingCounts& counts_;
    const Deadline& deadline_;
    std::vector<std::vector<SizeChoice>> spaces_;
    std::vector<Found> found_;
};

/// Axes that are folded together with this one.
std::vector<AxisId> RegionSearch::folded_beside(AxisId beside) const {
    std::vector<AxisId> found;
    for (const StatementId id : region_named(plain_, region_).statements) {
        const std::vector<AxisId> folded = folded_axes(plain_.diagram[id]);
        if (!contains(folded, beside)) continue;
        for (const AxisId axis : folded)
            if (axis != beside && !contains(found, axis)) found.push_back(axis);
    }
    return found;
}

/// Those of a few indices, as the taps of a filter are beside its channels, one by one.
std::vector<Around> RegionSearch::short_folds(AxisId beside) const {
    constexpr std::int64_t kShort = 16;
    std::vector<Around> found;
    for (const AxisId axis : folded_beside(beside))
        if (plain_.diagram[axis].extent <= kShort) found.push_back({axis, {1}});
    return found;
}

/// All of them where masks leave out tiles of several axes, as those of an image's neighbourhoods;
/// once, around the last of them.
std::vector<Around> RegionSearch::masked_folds(AxisId beside) const {
    if (!is_conditional(plain_.diagram, region_named(plain_, region_))) return {};
    std::vector<Around> found;
    for (const AxisId axis : folded_beside(beside)) {
        if (axis > beside) return {};
        std::vector<std::int64_t> sizes;
        for (const std::int64_t size : {16, 8, 4})
            if (size < plain_.diagram[axis].extent) sizes.push_back(size);
        if (sizes.empty()) return {};
        found.push_back({axis, std::move(sizes)});
    }
    return found;
}

void RegionSearch::with_stream(std::optional<AxisId> streamed, const std::vector<Around>& around,
                               std::size_t most) {
    if (is_over()) return;
    std::optional<TilingSpace> space =
        tiling_space(plain_, region_, streamed, group_sizes, stream_sizes, around);
    if (!space) return;
    thin(space->choices, std::min(most, most_));
    evaluate(*space);
    spaces_.push_back(std::move(space->choices));
}

/// Of the chunks that fit a choice of groups the fastest is kept, of equals the largest. Sizes of
/// chunks fall.
void RegionSearch::evaluate(const TilingSpace& space) {
    const std::vector<SizeChoice>& choices = space.choices;
    PreparedCost cost(space.program, space.lists());
    const std::size_t first = !choices.empty() && choices.front().is_stream ? 1 : 0;
    std::vector<std::size_t> picks(choices.size(), 0);
    while (true) {
        std::optional<Found> best = evaluate_one(cost, picks);
        while (first == 1 && ++picks.front() < choices.front().sizes.size()) {
            std::optional<Found> found = evaluate_one(cost, picks);
            if (found && (!best || found->time < best->time)) best = std::move(found);
        }
        if (best) found_.push_back(std::move(*best));
        if (is_over()) return;
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
    return Found{0, clock_.middle_of(work), work.loaded + work.saved, held, spaces_.size(), picks};
}

void RegionSearch::with_parts(AxisId streamed) {
    if (deadline_.is_past()) return;
    std::optional<TilingSpace> space =
        tiling_space(plain_, region_, streamed, group_sizes, stream_sizes);
    if (!space || space->choices.empty()) return;
    thin(space->choices);
    std::vector<std::size_t> picks(space->choices.size(), 0);
    picks.front() = space->choices.front().sizes.size() - 1;
    if (!in_parts(plain_, region_, commands_of(plain_.diagram, in(), space->choices, picks),
                  streamed, ceil_quotient(plain_.diagram[streamed].extent, 2)))
        return;
    evaluate_parts(*space);
    spaces_.push_back(std::move(space->choices));
}

/// As many parts as leave each a chunk, while processors have few blocks; of the chunks that leave
/// parts as large the fastest is kept, of equals the largest.
void RegionSearch::evaluate_parts(const TilingSpace& space) {
    constexpr std::int64_t kEnough = 16;  // blocks of a processor
    std::map<std::pair<std::int64_t, std::vector<std::size_t>>, Found> best;
    const std::vector<SizeChoice>& choices = space.choices;
    const std::int64_t extent = plain_.diagram[choices.front().axis].extent;
    PreparedCost cost(space.program, space.lists());
    std::vector<std::size_t> picks(choices.size(), 0);
    for (std::size_t at = 0; at < picks.size() && !is_over();) {
        const double held = cost.held_bits(picks);
        const KernelWork work = cost.work(picks);
        const std::int64_t chunk = choices.front().sizes[picks.front()];
        const bool fits = held / 8 <= (capacity_ ? capacity_->value : held);
        for (std::int64_t parts = 2;
             fits && work.blocks * parts <= kEnough * processors_ && extent / parts >= chunk;
             parts *= 2) {
            ++counts_.evaluated;
            const std::int64_t part = ceil_quotient(ceil_quotient(extent, parts), chunk) * chunk;
            Found found{part,
                        clock_.middle_of(work_in_parts(work, parts)),
                        work.loaded + work.saved,
                        held,
                        spaces_.size(),
                        picks};
            std::vector<std::size_t> groups(picks.begin() + 1, picks.end());
            const auto [known, is_new] = best.try_emplace({parts, std::move(groups)}, found);
            if (!is_new && found.time < known->second.time) known->second = std::move(found);
        }
        for (at = 0; at < picks.size() && ++picks[at] == choices[at].sizes.size(); ++at)
            picks[at] = 0;
    }
    for (auto& [parts, found] : best) found_.push_back(std::move(found));
}

std::vector<Tiling> RegionSearch::run(std::size_t top) {
    with_stream(std::nullopt);
    for (const AxisId axis : axes_of(plain_, region_named(plain_, region_))) {
        with_stream(axis);
        if (const std::vector<Around> around = short_folds(axis); !around.empty())
            with_stream(axis, around);
        if (const std::vector<Around> around = masked_folds(axis); !around.empty())
            with_stream(axis, around, kMostOfSeveral);
    }
    return best(top);
}

std::vector<Tiling> RegionSearch::run_in_parts(std::size_t top) {
    for (const AxisId axis : axes_of(plain_, region_named(plain_, region_))) with_parts(axis);
    return best(top);
}

/// The fastest, and of every set of grouped axes some: a kernel's time is not what is known here,
/// and sizes are changed later, but no axis is grouped that was not.
std::vector<Found> RegionSearch::chosen(std::size_t top) {
    constexpr std::size_t kOfEach = 3;
    std::stable_sort(found_.begin(), found_.end());
    if (found_.size() <= top) return found_;
    std::map<std::vector<std::size_t>, std::size_t> of_each;
    std::vector<bool> is_chosen(found_.size(), false);
    std::size_t count = 0;
    for (std::size_t k = 0; k < found_.size() && count < top; ++k) {
        std::vector<std::size_t> grouped = {found_[k].space};
        const std::vector<SizeChoice>& choices = spaces_[found_[k].space];
        for (std::size_t i = 0; i < choices.size(); ++i)
            if (choices[i].sizes[found_[k].picks[i]] < plain_.diagram[choices[i].axis].extent)
                grouped.push_back(i + 1);
        if (++of_each[grouped] > kOfEach) continue;
        is_chosen[k] = true;
        ++count;
    }
    for (std::size_t k = 0; k < found_.size() && count < top; ++k)
        if (!is_chosen[k]) {
            is_chosen[k] = true;
            ++count;
        }
    std::vector<Found> chosen;
    for (std::size_t k = 0; k < found_.size(); ++k)
        if (is_chosen[k]) chosen.push_back(found_[k]);
    return chosen;
}

std::vector<Tiling> RegionSearch::best(std::size_t top) {
    std::vector<Tiling> best;
    for (const Found& found : chosen(top)) {
        const std::vector<SizeChoice>& choices = spaces_[found.space];
        std::optional commands = commands_of(plain_.diagram, in(), choices, found.picks);
        if (found.part > 0)
            commands = in_parts(plain_, region_, *commands, choices.front().axis, found.part);
        if (commands)
            best.push_back({std::move(*commands), found.time,
                            static_cast<std::int64_t>(8 * found.moved),
                            static_cast<std::int64_t>(found.held_bits)});
    }
    return best;
}

}  // namespace

std::vector<Tiling> best_tilings(const State& state, const std::string& region,
                                 const Machine& machine, std::size_t top, TilingCounts& counts,
                                 const Deadline& deadline) {
    return RegionSearch(state, region, machine, counts, deadline).run(top);
}

std::vector<Tiling> first_tilings(const State& state, const std::string& region,
                                  const Machine& machine, std::size_t top, TilingCounts& counts) {
    const Deadline never;
    return RegionSearch(state, region, machine, counts, never, kMostAtFirst).run(top);
}

std::vector<Tiling> best_splits(const State& state, const std::string& region,
                                const Machine& machine, std::size_t top, TilingCounts& counts,
                                const Deadline& deadline) {
    return RegionSearch(state, region, machine, counts, deadline).run_in_parts(top);
}

}  // namespace napkin
