#include "schedule/plain_block.h"

#include <algorithm>
#include <cmath>

#include "diagrams/rounding.h"

namespace napkin::schedule {

std::int64_t plain_threads(const RegionProgram& region) {
    constexpr std::int64_t kElementsPerThread = 8;
    constexpr std::int64_t kMost = 256;
    std::int64_t most = 1;
    for (const Variable& variable : region.variables) {
        if (variable.level < Level::Block) continue;
        std::int64_t elements = 1;
        for (const std::int64_t extent : variable.capacity_extent) elements *= extent;
        most = std::max(most, elements);
    }
    std::int64_t threads = 32;
    while (threads < kMost && threads * kElementsPerThread < most) threads *= 2;
    return threads;
}

std::int64_t ThreadGrid::row_passes(std::int64_t of_result) const {
    return ceil_quotient(of_result, rows * threads_down);
}
std::int64_t ThreadGrid::column_passes(std::int64_t of_result) const {
    return ceil_quotient(of_result, columns * threads_across);
}

/// Multiply-adds issue four times as fast as loads.
ThreadGrid thread_grid(std::int64_t rows, std::int64_t columns, std::int64_t threads) {
    constexpr std::int64_t kMostRows = 8;
    constexpr std::int64_t kMostColumns = 8;
    ThreadGrid best;
    double least = 0;
    for (std::int64_t across = 1; across <= threads; across *= 2) {
        const std::int64_t down = threads / across;
        const ThreadGrid tried{across, down, std::min(kMostRows, ceil_quotient(rows, down)),
                               std::min(kMostColumns, ceil_quotient(columns, across))};
        const auto passes =
            static_cast<double>(tried.row_passes(rows) * tried.column_passes(columns));
        const auto r = static_cast<double>(tried.rows);
        const auto c = static_cast<double>(tried.columns);
        // Fewer than a warp across reads more rows at once; 16 is a good width.
        const double shape = std::abs(std::log2(static_cast<double>(across)) - 4) * 0.01;
        const double time = passes * (r * c / 4 + r + c) * (1 + shape);
        if (least == 0 || time < least) {
            least = time;
            best = tried;
        }
    }
    return best;
}

bool folds_by_warps(std::int64_t results, std::int64_t folded, std::int64_t threads) {
    constexpr std::int64_t kWarp = 32;
    return folded >= kWarp && results * 2 <= threads;
}

}  // namespace napkin::schedule
