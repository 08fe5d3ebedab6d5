#include <algorithm>
#include <cmath>

#include "codegen/simt/contraction_lowering.h"
#include "diagrams/contains.h"
#include "diagrams/rounding.h"
#include "schedule/statements.h"

namespace napkin::lowering {

/// The arrangement with the least estimated time: multiply-adds issue four times as fast as loads.
Arrangement arrange(std::int64_t rows, std::int64_t columns, std::int64_t threads) {
    constexpr std::int64_t kMostRows = 8;
    constexpr std::int64_t kMostColumns = 8;
    Arrangement best;
    double least = 0;
    for (std::int64_t across = 1; across <= threads; across *= 2) {
        const std::int64_t down = threads / across;
        Arrangement tried{across, down, std::min(kMostRows, ceil_quotient(rows, down)),
                          std::min(kMostColumns, ceil_quotient(columns, across))};
        const double passes = static_cast<double>(ceil_quotient(rows, tried.rows * down) *
                                                  ceil_quotient(columns, tried.columns * across));
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

bool ContractionLowering::recognise() {
    const ArrayId target = compute_.statement.targets.front();
    if (!is_floating(region_.region_.arrays[target.index()].type) ||
        schedule::sums_integers(region_.region_, compute_.statement,
                                region_.options_.dynamic_sizes))
        return false;
    const std::vector<AxisId> axes = region_.target_axes(compute_);
    const auto single = [&](AxisId axis) { return region_.ranges_.at(axis).capacity == 1; };
    std::optional<Contraction> found = contraction_of(compute_.statement, axes, [&](AxisId axis) {
        return contains(fold_.over, axis) || !single(axis);
    });
    if (!found) return false;
    place_either(*found);
    // What no operand runs along is a row like any other.
    found->rows.insert(found->rows.end(), found->others.begin(), found->others.end());
    for (const AxisId axis : axes)
        if (single(axis) || contains(found->batch, axis)) batch_.push_back(axis);
    contraction_ = *std::move(found);
    return true;
}

}  // namespace napkin::lowering
