#include <algorithm>
#include <cmath>

#include "codegen/simt/contraction_lowering.h"
#include "schedule/rounding.h"

namespace napkin::lowering {
namespace {

void collect_factors(const Expression& expression, Factors& factors) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call != nullptr && call->function == Function::Multiply) {
        collect_factors(call->arguments[0], factors);
        collect_factors(call->arguments[1], factors);
        return;
    }
    if (call != nullptr && call->function == Function::Negate) {
        factors.constant = -factors.constant;
        collect_factors(call->arguments[0], factors);
        return;
    }
    factors.list.push_back(&expression);
}

bool within(const std::set<AxisId>& part, const std::set<AxisId>& whole) {
    return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

}  // namespace

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
    if (fold_.monoid != kSum || fold_.every_prefix || fold_.values.size() != 1) return false;
    const ArrayId target = compute_.statement.targets.front();
    if (!is_floating(region_.region_.arrays[target.index()].type)) return false;
    collect_factors(fold_.values.front(), factors_);
    const std::vector<AxisId> axes = region_.target_axes(compute_);
    const std::set<AxisId> wanted(axes.begin(), axes.end());
    const std::set<AxisId> folded(fold_.over.begin(), fold_.over.end());

    // Factors of the folded axes, with the result's axes that each uses. Axes of which there is
    // only one index do not matter.
    std::vector<std::pair<const Expression*, std::set<AxisId>>> inside;
    for (const Expression* factor : factors_.list) {
        bool uses_folded = false;
        std::set<AxisId> uses;
        for (const AxisId axis : axes_used(*factor)) {
            if (folded.contains(axis)) uses_folded = true;
            if (wanted.contains(axis) && region_.ranges_.at(axis).capacity > 1) uses.insert(axis);
        }
        if (uses_folded)
            inside.emplace_back(factor, std::move(uses));
        else
            outside_.push_back(factor);
    }
    if (inside.size() < 2) return false;
    const auto widest =
        std::max_element(inside.begin(), inside.end(), [&](const auto& a, const auto& b) {
            return capacity({a.second.begin(), a.second.end()}) <
                   capacity({b.second.begin(), b.second.end()});
        });
    const std::set<AxisId> first = widest->second;
    std::set<AxisId> second;
    for (const auto& [factor, uses] : inside)
        if (!within(uses, first) &&
            capacity({uses.begin(), uses.end()}) >= capacity({second.begin(), second.end()}))
            second = uses;
    if (second.empty()) return false;
    for (const auto& [factor, uses] : inside) {
        if (within(uses, first))
            left_.push_back(factor);
        else if (within(uses, second))
            right_.push_back(factor);
        else
            return false;
    }
    // Both have the batch; what only one has are its rows or columns. The columns get the axis that
    // varies fastest in the result.
    std::vector<AxisId> only_first;
    std::vector<AxisId> only_second;
    for (const AxisId axis : axes) {
        if (region_.ranges_.at(axis).capacity == 1) {
            batch_.push_back(axis);
        } else if (first.contains(axis) == second.contains(axis)) {
            (first.contains(axis) ? batch_ : only_first).push_back(axis);
        } else {
            (first.contains(axis) ? only_first : only_second).push_back(axis);
        }
    }
    if (only_first.empty() || only_second.empty()) return false;
    rows_ = only_first;
    columns_ = only_second;
    if (std::find(only_first.begin(), only_first.end(), axes.back()) != only_first.end()) {
        std::swap(rows_, columns_);
        std::swap(left_, right_);
    }
    return true;
}

}  // namespace napkin::lowering
