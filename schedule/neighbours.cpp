#include "schedule/neighbours.h"

#include "diagrams/integer_range.h"

namespace napkin::schedule {

bool keeps_vectors(const RegionProgram& region, const Expression& index, AxisId columns,
                   AxisId dimension, std::int64_t count, const std::vector<bool>& run_time) {
    constexpr std::int64_t kMostTried = 4096;
    const std::int64_t extent = region.axes[columns.index()].extent;
    if (run_time[columns.index()] || extent > kMostTried || run_time[dimension.index()] ||
        region.axes[dimension.index()].extent % count != 0)
        return false;
    const auto place = [&](std::int64_t column) {
        return value_range(index, [&](const Expression& leaf) -> std::optional<Interval> {
            const AxisIndex* axis = std::get_if<AxisIndex>(&leaf.node);
            if (axis != nullptr && axis->axis == columns) return Interval{column, column};
            const SizeOf* of = std::get_if<SizeOf>(&leaf.node);
            if (of == nullptr || run_time[of->axis.index()]) return std::nullopt;
            return Interval{region.axes[of->axis.index()].extent,
                            region.axes[of->axis.index()].extent};
        });
    };
    std::int64_t first = 0;
    for (std::int64_t column = 0; column < extent; ++column) {
        const std::optional<Interval> at = place(column);
        if (!at || !at->is_one()) return false;
        if (column % count == 0) first = at->low;
        if (first % count != 0 || at->low != first + column % count) return false;
    }
    return true;
}

}  // namespace napkin::schedule
