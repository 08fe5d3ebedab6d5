#include "schedule/tile_order.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "diagrams/index/mask.h"
#include "diagrams/rounding.h"
#include "schedule/statements.h"

namespace napkin::schedule {
namespace {

/// About the square root of the blocks that a large device runs at once.
constexpr std::int64_t kBand = 16;
/// Tiles that such a device runs at once; of fewer, any order shares all that can be shared.
constexpr std::int64_t kAtOnce = 128;
/// Graded tiles of so many others go together where nothing else is known.
constexpr std::int64_t kTogether = 64;
/// Groups of an axis that are looked at to see how the chunks of a tile change along it.
constexpr std::int64_t kSamples = 5;
/// More are as many.
constexpr std::int64_t kMostTiles = std::int64_t{1} << 30;

void collect(const std::vector<TileStatement>& body, std::vector<const Parallel*>& groups,
             std::vector<const Loop*>& loops) {
    for (const TileStatement& statement : body) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node)) {
            groups.push_back(parallel);
            collect(parallel->body, groups, loops);
        } else if (const Loop* loop = std::get_if<Loop>(&statement.node)) {
            loops.push_back(loop);
            collect(loop->body, groups, loops);
        }
    }
}

/// Chunks that are visited where the axes have the given ranges.
std::int64_t visited(const RegionProgram& region, const Loop& loop, const index::Mask& mask,
                     Ranges ranges) {
    const std::int64_t extent = region.axes[loop.axis.index()].extent;
    std::int64_t count = 0;
    for (std::int64_t start = 0; start < extent; start += loop.size) {
        ranges[loop.axis] = {start, std::min(start + loop.size, extent) - 1};
        if (mask.meets(ranges)) ++count;
    }
    return count;
}

std::int64_t count_of(const RegionProgram& region, const Parallel& group) {
    return ceil_quotient(region.axes[group.axis.index()].extent, group.size);
}

/// Chunks of tiles along a group, evenly spaced, where the other groups are at their beginning.
std::vector<std::int64_t> sampled(const RegionProgram& region,
                                  const std::vector<const Parallel*>& groups, const Parallel& along,
                                  const Loop& loop, const index::Mask& mask) {
    const auto range = [&](const Parallel& group, std::int64_t number) {
        const std::int64_t extent = region.axes[group.axis.index()].extent;
        const std::int64_t start = number * group.size;
        return Interval{start, std::min(start + group.size, extent) - 1};
    };
    Ranges ranges;
    for (const Parallel* group : groups) ranges[group->axis] = range(*group, 0);
    const std::int64_t last = count_of(region, along) - 1;
    const std::int64_t samples = std::min(last + 1, kSamples);
    std::vector<std::int64_t> chunks;
    for (std::int64_t i = 0; i < samples; ++i) {
        ranges[along.axis] = range(along, samples == 1 ? 0 : i * last / (samples - 1));
        chunks.push_back(visited(region, loop, mask, ranges));
    }
    return chunks;
}

double mean_of(const std::vector<std::int64_t>& chunks) {
    double all = 0;
    for (const std::int64_t count : chunks) all += static_cast<double>(count);
    return all / static_cast<double>(chunks.size());
}

/// Whether the largest is more than a tenth above the mean.
bool is_uneven(const std::vector<std::int64_t>& chunks) {
    const std::int64_t most = *std::max_element(chunks.begin(), chunks.end());
    return mean_of(chunks) < 0.9 * static_cast<double>(most);
}

/// Of so many tiles, what those that were sampled say, the most first.
std::vector<std::int64_t> between(std::vector<std::int64_t> sampled, std::int64_t count) {
    std::sort(sampled.rbegin(), sampled.rend());
    const auto gaps = static_cast<double>(sampled.size() - 1);
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < count; ++i) {
        const double at = static_cast<double>(i) * gaps / static_cast<double>(count - 1);
        const auto before = static_cast<std::size_t>(std::min(at, gaps - 1));
        const double part = at - static_cast<double>(before);
        all.push_back(std::llround((1 - part) * static_cast<double>(sampled[before]) +
                                   part * static_cast<double>(sampled[before + 1])));
    }
    return all;
}

/// Adds what a masked loop says; `visits` becomes the chunks that a tile visits, on the average.
void add_loop(const RegionProgram& region, const std::vector<const Parallel*>& groups,
              const Loop& loop, TileOrder& order, double& visits) {
    const index::Mask mask(region.axes, loop.visible);
    for (const Parallel* group : groups) {
        const bool matters =
            std::any_of(loop.visible.begin(), loop.visible.end(), [&](const Expression& condition) {
                return axes_used(condition).contains(group->axis);
            });
        if (!matters) continue;
        const std::vector<std::int64_t> chunks = sampled(region, groups, *group, loop, mask);
        visits = std::min(visits, mean_of(chunks));
        const bool grows = chunks.back() > chunks.front();
        if (grows) order.reversed.insert(group->axis);
        if (!is_uneven(chunks)) continue;
        const bool is_graded = grows ? std::is_sorted(chunks.begin(), chunks.end())
                                     : std::is_sorted(chunks.rbegin(), chunks.rend());
        const bool is_first = !std::exchange(order.uneven, true);
        if (is_graded && is_first) {
            order.graded = group->axis;
            order.grades = between(chunks, count_of(region, *group));
        } else if (!is_graded || order.graded != group->axis) {
            order.graded.reset();
        }
    }
}

/// Of each operand that is loaded, the axes that say which part.
std::vector<std::set<AxisId>> loaded_along(const RegionProgram& region,
                                           const std::set<VariableId>& operands) {
    std::vector<std::set<AxisId>> loaded;
    for_statements(region.body, [&](const TileStatement& statement, const Loop*) {
        const Load* load = std::get_if<Load>(&statement.node);
        if (load == nullptr || !operands.contains(load->target) ||
            !is_floating(region.arrays[load->array.index()].type))
            return;
        std::set<AxisId>& axes = loaded.emplace_back();
        for (const std::vector<Expression>& dimension : load->index)
            for (const Expression& index : dimension) axes.merge(axes_used(index));
        for (const Expression& index : load->gather) axes.merge(axes_used(index));
    });
    return loaded;
}

/// Whether tiles that differ along one group alone share an operand, and those along the other
/// another one: a product's rows and columns, or parts of these.
bool share_both(const RegionProgram& region, const std::set<VariableId>& operands, AxisId a,
                AxisId b) {
    const std::vector<std::set<AxisId>> loaded = loaded_along(region, operands);
    const auto shared_along = [&](AxisId axis, AxisId other) {
        return std::any_of(loaded.begin(), loaded.end(), [&](const std::set<AxisId>& axes) {
            return axes.contains(other) && !axes.contains(axis);
        });
    };
    return shared_along(a, b) && shared_along(b, a);
}

/// Visits of the innermost bodies.
double all_visits(const std::vector<TileStatement>& body,
                  const std::map<const Loop*, double>& visits) {
    double all = 0;
    for (const TileStatement& statement : body) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node))
            all += all_visits(parallel->body, visits);
        else if (const Loop* loop = std::get_if<Loop>(&statement.node))
            all += visits.at(loop) * std::max(1.0, all_visits(loop->body, visits));
    }
    return all;
}

/// The chunks of the block that has most to do, with a tile's begin and end as one more, by the
/// mean of all.
double unevenness(const TileOrder& order, std::int64_t others, std::int64_t together,
                  std::int64_t blocks) {
    std::vector<std::int64_t> busy(static_cast<std::size_t>(blocks), 0);
    std::int64_t turn = 0;
    std::int64_t at = 0;
    for (std::int64_t begin = 0; begin < others; begin += together)
        for (const std::int64_t chunks : order.grades)
            for (std::int64_t i = begin; i < std::min(others, begin + together); ++i) {
                const std::int64_t block = turn % 2 == 0 ? at : blocks - 1 - at;
                busy[static_cast<std::size_t>(block)] += chunks + 1;
                if (++at < blocks) continue;
                at = 0;
                ++turn;
            }
    const auto all = std::accumulate(busy.begin(), busy.end(), std::int64_t{0});
    return static_cast<double>(*std::max_element(busy.begin(), busy.end()) * blocks) /
           static_cast<double>(all);
}

}  // namespace

std::int64_t even_together(const TileOrder& order, std::int64_t blocks) {
    // What is computed at once is fetched once, and what others compute meanwhile is fetched, too:
    // so much of the time for each (causal attention of 1024 to 8192 queries on an H200).
    constexpr double kFetched = 0.001;
    constexpr std::int64_t kStep = kProcessors / 12;
    constexpr std::int64_t kMany = 1 << 15;  // which even out by themselves
    const auto grades = static_cast<std::int64_t>(order.grades.size());
    const std::int64_t others = order.tiles / grades;
    const std::int64_t most = std::min(kTogether, others);
    if (order.tiles > kMany) return most;
    const auto cost = [&](std::int64_t together) {
        return unevenness(order, others, together, blocks) +
               kFetched * static_cast<double>(together);
    };
    std::int64_t best = most;
    double least = cost(most);
    for (std::int64_t together = 1; together < most; together += together < kStep ? 1 : kStep)
        if (const double found = cost(together); found < least) {
            least = found;
            best = together;
        }
    return best;
}

TileOrder tile_order(const RegionProgram& region, const ProductSides& products) {
    std::vector<const Parallel*> groups;
    std::vector<const Loop*> loops;
    collect(region.body, groups, loops);
    TileOrder order;
    for (const Parallel* group : groups)
        order.tiles = std::min(order.tiles * count_of(region, *group), kMostTiles);
    std::map<const Loop*, double> visits;
    for (const Loop* loop : loops) {
        double& of_loop = visits[loop];
        of_loop = std::ceil(static_cast<double>(region.axes[loop->axis.index()].extent) /
                            static_cast<double>(loop->size));
        if (!loop->visible.empty()) add_loop(region, groups, *loop, order, of_loop);
    }
    order.chunks = all_visits(region.body, visits);
    if (groups.size() >= 2) {
        const AxisId slow = groups[groups.size() - 2]->axis;
        const AxisId fast = groups.back()->axis;
        const std::int64_t several =
            count_of(region, *groups[groups.size() - 2]) * count_of(region, *groups.back());
        const auto& [rows, columns, operands] = products;
        if ((slow == rows && columns.contains(fast)) || (fast == rows && columns.contains(slow)) ||
            (several > kAtOnce && share_both(region, operands, slow, fast)))
            order.band = kBand;
    }
    return order;
}

std::optional<Refusal> choose_band(const RegionProgram& region, std::optional<std::int64_t> wanted,
                                   std::optional<std::int64_t> blocks, TileOrder& order) {
    if (order.graded && blocks) order.together = even_together(order, *blocks);
    if (!wanted) return std::nullopt;
    const auto refused = [](const char* reason) {
        return Refusal{reason, "leave it out, and the planner chooses", SettingName{"band", ""}};
    };
    std::vector<const Parallel*> groups;
    std::vector<const Loop*> loops;
    collect(region.body, groups, loops);
    std::vector<std::size_t> several;
    for (std::size_t i = 0; i < groups.size(); ++i)
        if (region.axes[groups[i]->axis.index()].dynamic || count_of(region, *groups[i]) > 1)
            several.push_back(i);
    if (several.size() < 2 || several.back() != several[several.size() - 2] + 1)
        return refused("there are no two groups next to each other of several tiles each");
    if (!order.graded)
        order.band = *wanted > 1 ? *wanted : 0;
    else if (blocks)
        order.together = std::max<std::int64_t>(*wanted, 1);
    else
        return refused("tiles go by how many chunks they visit");
    return std::nullopt;
}

}  // namespace napkin::schedule
