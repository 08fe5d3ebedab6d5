#include "search/tilings.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "derive/tile_program.h"
#include "perfmodel/block_time.h"
#include "perfmodel/prepared_cost.h"
#include "search/tiling_space.h"

namespace napkin {

namespace {

/// Combinations of group sizes looked at for one choice of axes.
constexpr std::size_t kMostCombinations = 400;

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
    void evaluate(const TilingSpace& space);
    /// Nothing where the tiling does not fit.
    std::optional<Found> evaluate_one(PreparedCost& cost, const std::vector<std::size_t>& picks);

    const State& plain_;
    std::string region_;
    BlockClock clock_;
    std::optional<Bytes> capacity_;
    TilingCounts& counts_;
    std::vector<std::vector<SizeChoice>> spaces_;
    std::vector<Found> found_;
};

void RegionSearch::with_stream(std::optional<AxisId> streamed) {
    std::optional<TilingSpace> space =
        tiling_space(plain_, region_, streamed, group_sizes, stream_sizes);
    if (!space) return;
    thin(space->choices);
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

std::vector<Tiling> RegionSearch::run(std::size_t top) {
    with_stream(std::nullopt);
    for (const AxisId axis : axes_of(plain_, region_named(plain_, region_))) with_stream(axis);
    std::stable_sort(found_.begin(), found_.end());
    const std::string in = plain_.relabelling.regions.size() == 1 ? "" : region_;
    std::vector<Tiling> best;
    for (std::size_t k = 0; k < std::min(top, found_.size()); ++k)
        best.push_back({commands_of(plain_.diagram, in, spaces_[found_[k].space], found_[k].picks),
                        found_[k].time, static_cast<std::int64_t>(8 * found_[k].moved),
                        static_cast<std::int64_t>(found_[k].held_bits)});
    return best;
}

}  // namespace

std::vector<Tiling> best_tilings(const State& state, const std::string& region,
                                 const Machine& machine, std::size_t top, TilingCounts& counts) {
    return RegionSearch(state, region, machine, counts).run(top);
}

}  // namespace napkin
