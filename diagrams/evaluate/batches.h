// Walks over boxes of indices, many lanes at a time.
#pragma once

#include <algorithm>
#include <vector>

#include "diagrams/diagram.h"
#include "diagrams/evaluate/lanes.h"

namespace napkin::evaluation {

/// Some indices of an axis.
struct IndexRange {
    AxisId axis;
    std::int64_t low = 0;
    std::int64_t count = 1;
};
[[nodiscard]] inline std::vector<IndexRange> whole_ranges(const Diagram& diagram,
                                                          const std::vector<AxisId>& axes) {
    std::vector<IndexRange> ranges;
    for (const AxisId axis : axes) ranges.push_back({axis, 0, diagram[axis].extent});
    return ranges;
}

/// Runs of the innermost axis at least this long are evaluated one by one, so that reads are
/// contiguous; shorter ones are gathered into full batches.
inline constexpr std::int64_t kLongRun = 64;

/// Calls `visit(count)` for batches that cover every index of `over` in row-major order, after
/// setting their lanes in `axes`; leaves them at the first index.
template <class Visitor>
void for_each_batch(const std::vector<IndexRange>& over, std::vector<IndexLanes>& axes,
                    LanePool<std::int64_t>& pool, const Visitor& visit) {
    if (over.empty()) return visit(std::size_t{1});
    const std::int64_t run = over.back().count;
    const bool long_runs = over.size() == 1 || run >= kLongRun;
    std::int64_t total = 1;
    for (const IndexRange& range : over) total *= range.count;
    std::vector<LaneBuffer<std::int64_t>> buffers;
    if (!long_runs)
        for (std::size_t at = 0; at < over.size(); ++at) buffers.emplace_back(pool);
    for (std::int64_t start = 0; start < total;) {
        std::int64_t count = std::min<std::int64_t>(kLanes, total - start);
        if (long_runs) count = std::min(count, run - start % run);
        std::int64_t inner = 1;
        for (std::size_t at = over.size(); at-- > 0;) {
            const std::int64_t extent = over[at].count;
            IndexLanes& lanes = axes[over[at].axis.index()];
            if (long_runs) {
                lanes = {over[at].low + start / inner % extent, at + 1 == over.size() ? 1 : 0,
                         nullptr};
            } else {
                for (std::int64_t lane = 0; lane < count; ++lane)
                    buffers[at].get()[lane] = over[at].low + (start + lane) / inner % extent;
                lanes = {0, 0, buffers[at].get()};
            }
            inner *= extent;
        }
        visit(static_cast<std::size_t>(count));
        start += count;
    }
    for (const IndexRange& range : over) axes[range.axis.index()] = {range.low, 0, nullptr};
}

}  // namespace napkin::evaluation
