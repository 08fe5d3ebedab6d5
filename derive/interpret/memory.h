// What the interpreter holds: ranges of axes per level, tiles of arrays.
#pragma once

#include <cstdint>
#include <vector>

#include "derive/region_program.h"
#include "diagrams/index/interval.h"

namespace napkin {

/// A box of global indices [low, low + extent) per dimension, row-major.
struct IndexBox {
    std::vector<std::int64_t> low;
    std::vector<std::int64_t> extent;
    bool operator==(const IndexBox&) const = default;

    [[nodiscard]] std::int64_t size() const;
    /// Position of a global index; throws InternalError outside of the box.
    [[nodiscard]] std::size_t offset(const std::vector<std::int64_t>& index) const;
};
[[nodiscard]] IndexBox index_box(const std::vector<Interval>& ranges);

/// Part of an array at a level.
template <class Value>
struct Tile : IndexBox {
    std::vector<Value> values;
};

/// Calls `visit(index)` for every index of a box, last dimension fastest.
template <class Visitor>
void for_each_index(const std::vector<Interval>& box, const Visitor& visit) {
    std::vector<std::int64_t> index;
    for (const Interval& range : box) {
        if (range.high < range.low) return;
        index.push_back(range.low);
    }
    while (true) {
        visit(index);
        std::size_t k = box.size();
        while (k > 0 && ++index[k - 1] > box[k - 1].high) {
            index[k - 1] = box[k - 1].low;
            --k;
        }
        if (k == 0) return;
    }
}

/// Current ranges of every axis, as seen at each level: a group or chunk of a level narrows it
/// there and below.
class LevelRanges {
public:
    explicit LevelRanges(const std::vector<Axis>& axes);
    [[nodiscard]] Interval at(Level level, AxisId axis) const {
        return ranges_[index(level)][axis.index()];
    }
    [[nodiscard]] Interval innermost(AxisId axis) const { return ranges_.back()[axis.index()]; }
    /// Narrows an axis at a level and below; returns what to restore.
    [[nodiscard]] std::vector<Interval> narrow(Level level, AxisId axis, Interval range);
    void restore(Level level, AxisId axis, const std::vector<Interval>& saved);
    /// Every axis at a level, for interval reasoning.
    [[nodiscard]] Ranges ranges(Level level) const;

private:
    static std::size_t index(Level level) { return static_cast<std::size_t>(level); }
    std::vector<std::vector<Interval>> ranges_;
};

/// The footprint of a load: per dimension the hull of the index expressions' bounds, clipped to the
/// array; an empty interval (high < low) where nothing inside the array is touched.
[[nodiscard]] std::vector<Interval> footprint(const RegionProgram& region, const Load& load,
                                              const Ranges& ranges);

}  // namespace napkin
