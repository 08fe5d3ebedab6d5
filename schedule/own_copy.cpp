#include "schedule/own_copy.h"

#include <algorithm>
#include <numeric>

#include "diagrams/memory_order.h"
#include "schedule/fit_copies.h"
#include "schedule/straight_reads.h"

namespace napkin::schedule {
namespace {

constexpr std::int64_t kMostBytes = 16;
constexpr std::int64_t kLeastBytes = 4;  ///< of an asynchronous copy

/// Elements that follow each other wherever a block's part along an axis begins, of at most so
/// many.
std::int64_t together(const RegionProgram& region, const Load& load, AxisId axis,
                      std::int64_t held) {
    std::int64_t together = held;
    for (const std::int64_t size : sizes_around(region, load, axis))
        together = std::gcd(together, size);
    return together;
}

}  // namespace

OwnCopy own_copy_of(const RegionProgram& region, const Plan& plan, const Load& load) {
    const Array& array = region.arrays[load.array.index()];
    const Tile& tile = plan.tiles.at(load.target);
    const auto bits = static_cast<std::int64_t>(bits_of(tile.type));
    OwnCopy copy;
    copy.gathered = is_tiled(plan.tile_axes, load);
    const std::size_t last = innermost_dimension(array);
    const Axis& inner = region.axes[array.axes[last].index()];
    // What divides the place of every vector: that of its row, and that of its first column.
    std::int64_t elements = inner.dynamic && array.axes.size() > 1 ? 1 : inner.extent;
    if (array.axes.size() == 1) elements = kMostBytes * 8 / bits;
    if (copy.gathered) {
        const AxisId columns = region.arrays[region.variables[load.target.index()].array.index()]
                                   .axes[tile.column_dimension];
        const TileAxis* parts = find_tile_axis(plan.tile_axes, columns);
        const AxisId fastest = parts == nullptr ? columns : parts->parts.back().axis;
        const AxisIndex* index = std::get_if<AxisIndex>(&load.gather[last].node);
        const std::int64_t held = parts == nullptr ? tile.columns : parts->parts.back().extent;
        elements = index == nullptr || index->axis != fastest
                       ? 1
                       : std::gcd(elements, together(region, load, fastest, held));
    } else {
        elements = std::gcd(elements, together(region, load, array.axes[last], tile.columns));
    }
    copy.bytes = kMostBytes;
    while (copy.bytes * 8 > bits && (elements * bits) % (copy.bytes * 8) != 0) copy.bytes /= 2;
    if (copy.bytes >= kLeastBytes) return copy;
    const bool repeats =
        std::any_of(load.gather.begin(), load.gather.end(), [&](const Expression& index) {
            return std::any_of(array.axes.begin(), array.axes.end(),
                               [&](AxisId axis) { return clamped(index, axis).has_value(); });
        });
    copy.how =
        copy.gathered || repeats || bits < 8 ? OwnCopy::How::Elements : OwnCopy::How::Shifted;
    copy.bytes =
        copy.how == OwnCopy::How::Shifted ? kMostBytes : std::max<std::int64_t>(bits / 8, 1);
    return copy;
}

}  // namespace napkin::schedule
