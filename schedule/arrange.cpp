#include "schedule/arrange.h"

#include <fmt/format.h>

#include <algorithm>

namespace napkin::tensor {
namespace {

/// Floats of fragments that a thread may hold beside everything else.
constexpr std::int64_t kFragmentRegisters = 200;
/// Of as many, operands made of results would spill: rather more warps where they cost the same.
constexpr std::int64_t kCrowded = 160;

/// The column axis that several warps may share: every product's results run along it, and nothing
/// needs a whole row of it.
std::optional<AxisId> shareable(const Plan& plan) {
    std::optional<AxisId> column;
    for (const auto& [compute, product] : plan.products) {
        if (column && *column != product.column) return std::nullopt;
        column = product.column;
    }
    if (!column) return std::nullopt;
    for (const auto& [compute, product] : plan.products)
        if (product.depth == *column) return std::nullopt;
    return column;
}

bool folded(const RegionProgram& region, const std::vector<TileStatement>& body, AxisId axis,
            const Plan& plan) {
    for (const TileStatement& statement : body) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node)) {
            if (folded(region, parallel->body, axis, plan)) return true;
        } else if (const Loop* loop = std::get_if<Loop>(&statement.node)) {
            if (folded(region, loop->body, axis, plan)) return true;
        } else if (const Compute* compute = std::get_if<Compute>(&statement.node)) {
            const std::vector<AxisId> over = folded_axes(compute->statement);
            if (std::find(over.begin(), over.end(), axis) != over.end()) return true;
        }
    }
    return false;
}

std::int64_t extent_of(const Plan& plan, AxisId axis) {
    return padded(plan.extents.at(axis), kTile);
}

/// Columns of results and of other fragments that live at the same time, at most.
std::int64_t columns_held(const Plan& plan) {
    std::int64_t columns = 0;
    std::set<AxisId> counted;
    for (const auto& [compute, product] : plan.products) columns += extent_of(plan, product.column);
    for (const auto& [variable, tile] : plan.tiles)
        if (tile.home == Home::Fragment && tile.column) counted.insert(*tile.column);
    for (const auto& [compute, product] : plan.products) counted.erase(product.column);
    for (const AxisId axis : counted) columns += extent_of(plan, axis);
    return columns;
}

std::optional<std::string> arrange_products(const RegionProgram& region,
                                            const schedule::Limits& limits, Plan& plan) {
    const std::int64_t wanted = plan.extents.at(*plan.row);
    std::optional<AxisId> split = shareable(plan);
    if (split && folded(region, region.body, *split, plan)) split.reset();
    const std::int64_t columns = split ? extent_of(plan, *split) : 0;
    const std::int64_t held = columns_held(plan);
    double best = 0;
    bool crowded = false;
    for (const std::int64_t down : {1, 2, 4, 8, 16}) {
        for (const std::int64_t across : {1, 2, 4, 8}) {
            const std::int64_t warps = down * across;
            if (across > 1 && (!split || columns % (across * kTile) != 0)) continue;
            const std::int64_t rows = padded(wanted, down * kTile);
            if (warps > 16 || (down > 1 && rows - wanted >= rows / 2)) continue;
            if (limits.threads > 0 && warps * 32 != limits.threads) continue;
            const std::int64_t of_warp = rows / down;
            const std::int64_t registers = held / across * of_warp / 32;
            if (registers > kFragmentRegisters) continue;
            // Shared memory read for every step of depth, and a taste for 4 to 8 warps.
            const std::int64_t across_columns = columns / across;
            const double reads = split ? static_cast<double>(of_warp + across_columns) /
                                             static_cast<double>(of_warp * across_columns)
                                       : 1.0 / static_cast<double>(of_warp);
            const double few = warps < 4 ? 4.0 / static_cast<double>(warps) : warps > 8 ? 1.2 : 1.0;
            const double waste = static_cast<double>(rows) / static_cast<double>(wanted);
            const double cost = reads * few * waste;
            const bool relieves =
                crowded && cost == best && warps > plan.warps_down * plan.warps_across;
            if (best == 0 || cost < best || relieves) {
                best = cost;
                crowded = registers > kCrowded;
                plan.warps_down = down;
                plan.warps_across = across;
                plan.rows_of_warp = of_warp;
            }
        }
    }
    if (best == 0)
        return fmt::format(
            "{} rows of {} columns in registers fit no number of warps{}", wanted, held,
            limits.threads > 0 ? fmt::format(" with {} threads", limits.threads) : "");
    if (plan.warps_across > 1) plan.split = split;
    return std::nullopt;
}

/// Rows are shared by as many threads as hold them in few registers: lanes of a warp, then warps.
std::optional<std::string> arrange_rows(const schedule::Limits& limits, Plan& plan) {
    constexpr std::int64_t kWarp = 32;
    constexpr std::int64_t kMostThreads = 1024;
    constexpr std::int64_t kValuesOfThread = 64;
    constexpr std::int64_t kRegisters = 65536;  // of a processor
    std::int64_t columns = 1;
    for (const auto& [variable, tile] : plan.tiles)
        if (tile.home == Home::Fragment && tile.column)
            columns = std::max(columns, plan.extents.at(*tile.column));
    const std::int64_t rows = plan.row ? plan.extents.at(*plan.row) : 1;
    const std::int64_t most = limits.threads > 0 ? limits.threads : kMostThreads;
    plan.lanes_per_row = 1;
    while (plan.lanes_per_row < kWarp && plan.lanes_per_row * plan.vector < columns)
        plan.lanes_per_row *= 2;
    while (plan.lanes_per_row >= kWarp && plan.lanes_per_row * 2 <= most &&
           ceil_quotient(columns, plan.lanes_per_row) > kValuesOfThread)
        plan.lanes_per_row *= 2;
    plan.warps_across = std::max<std::int64_t>(plan.lanes_per_row / kWarp, 1);
    plan.across_warps = plan.across_warps || plan.warps_across > 1;
    const std::int64_t rows_at_once = std::max<std::int64_t>(kWarp / plan.lanes_per_row, 1);
    const std::int64_t warps = limits.threads > 0 ? limits.threads / kWarp : 8;
    plan.warps_down = 1;
    while (plan.warps_down * plan.warps_across < warps && plan.warps_down * rows_at_once < rows)
        plan.warps_down *= 2;
    plan.rows_of_warp = padded(ceil_quotient(rows, plan.warps_down), rows_at_once);
    const std::int64_t held =
        plan.rows_of_warp / rows_at_once * ceil_quotient(columns, plan.lanes_per_row);
    constexpr std::int64_t kOthers = 24;  // registers beside the elements
    if (held > std::min(kFragmentRegisters, kRegisters / plan.threads() - kOthers))
        return fmt::format("{} rows of {} values do not fit the registers of {} threads", rows,
                           columns, plan.threads());
    return std::nullopt;
}

}  // namespace

std::optional<std::string> arrange(const RegionProgram& region, const schedule::Limits& limits,
                                   Plan& plan) {
    return plan.has_products() ? arrange_products(region, limits, plan)
                               : arrange_rows(limits, plan);
}

}  // namespace napkin::tensor
