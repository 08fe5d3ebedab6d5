#include "derive/interpret/memory.h"

#include <algorithm>

namespace napkin {

std::int64_t IndexBox::size() const {
    std::int64_t size = 1;
    for (std::int64_t width : extent) size *= width;
    return size;
}

std::size_t IndexBox::offset(const std::vector<std::int64_t>& index) const {
    invariant(index.size() == low.size(), "a tile is read before it is written");
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < index.size(); ++k) {
        const std::int64_t local = index[k] - low[k];
        invariant(local >= 0 && local < extent[k], "a tile is read or written outside of its box");
        offset = offset * extent[k] + local;
    }
    return static_cast<std::size_t>(offset);
}

IndexBox index_box(const std::vector<Interval>& ranges) {
    IndexBox box;
    for (const Interval& range : ranges) {
        box.low.push_back(range.low);
        box.extent.push_back(std::max<std::int64_t>(range.high - range.low + 1, 0));
    }
    return box;
}

LevelRanges::LevelRanges(const std::vector<Axis>& axes) {
    std::vector<Interval> whole;
    for (const Axis& axis : axes) whole.push_back({0, axis.extent - 1});
    ranges_.assign(static_cast<std::size_t>(Level::Thread) + 1, whole);
}

std::vector<Interval> LevelRanges::narrow(Level level, AxisId axis, Interval range) {
    std::vector<Interval> saved;
    for (std::size_t i = index(level); i < ranges_.size(); ++i) {
        saved.push_back(ranges_[i][axis.index()]);
        ranges_[i][axis.index()] = range;
    }
    return saved;
}

void LevelRanges::restore(Level level, AxisId axis, const std::vector<Interval>& saved) {
    for (std::size_t i = 0; i < saved.size(); ++i)
        ranges_[index(level) + i][axis.index()] = saved[i];
}

Ranges LevelRanges::ranges(Level level) const {
    Ranges result;
    const std::vector<Interval>& at = ranges_[index(level)];
    for (std::uint32_t i = 0; i < at.size(); ++i) result[AxisId{i}] = at[i];
    return result;
}

std::vector<Interval> footprint(const RegionProgram& region, const Load& load,
                                const Ranges& ranges) {
    const Array& array = region.arrays[region.variables[load.target.index()].array.index()];
    std::vector<Interval> box;
    for (std::size_t k = 0; k < array.axes.size(); ++k) {
        const std::int64_t extent = region.axes[array.axes[k].index()].extent;
        std::optional<Interval> hull;
        for (const Expression& index : load.index[k]) {
            const std::optional<Interval> range = bounds(region.axes, index, ranges);
            if (!range) {
                hull = Interval{0, extent - 1};
                break;
            }
            hull =
                hull ? Interval{std::min(hull->low, range->low), std::max(hull->high, range->high)}
                     : *range;
        }
        box.push_back({std::max<std::int64_t>(hull->low, 0), std::min(hull->high, extent - 1)});
    }
    return box;
}

}  // namespace napkin
