#include "schedule/share_columns.h"

#include <fmt/format.h>

#include <algorithm>

namespace napkin::schedule {
namespace {

/// Calls visit(leaf, compute).
template <class Visit>
void for_computes(const RegionProgram& region, const Visit& visit) {
    LeafId leaf;
    for_statements(region.body, [&](const TileStatement& statement, const Loop*) {
        if (const Compute* compute = std::get_if<Compute>(&statement.node)) visit(leaf, *compute);
        ++leaf.value;
    });
}

/// The axis along the rows of a matrix in shared memory.
AxisId rows_of(const RegionProgram& region, const Plan& plan, VariableId matrix) {
    const std::size_t dimension = plan.tiles.at(matrix).row_dimension;
    AxisId axis = region.arrays[region.variables[matrix.index()].array.index()].axes[dimension];
    for_statements(region.body, [&](const TileStatement& statement, const Loop*) {
        const Load* load = std::get_if<Load>(&statement.node);
        if (load != nullptr && load->target == matrix)
            axis = std::get<AxisIndex>(load->index[dimension].front().node).axis;
    });
    return axis;
}

/// Whether a left operand is what products left in registers.
bool is_fragment(const Plan& plan, const Operand& left) {
    return left.direct && plan.tiles.at(*left.direct).home == Home::Fragment;
}

}  // namespace

std::set<AxisId> column_axes(const Plan& plan) {
    std::set<AxisId> axes;
    for (const auto& [leaf, product] : plan.products) axes.insert(product.column);
    for (const auto& [variable, tile] : plan.tiles)
        if (tile.home == Home::Fragment && tile.column) axes.insert(*tile.column);
    return axes;
}

std::optional<std::string> why_not_shared(const RegionProgram& region, const Plan& plan,
                                          std::int64_t across) {
    constexpr std::int64_t kPanel = 64;  // columns in shared memory, side by side
    if (!plan.serial.empty()) return "threads go along columns in a loop";
    const auto why_not = [&](AxisId axis, std::int64_t unit) -> std::optional<std::string> {
        const std::int64_t columns = padded(plan.extents.at(axis), kTile);
        if (columns % (across * unit) == 0) return std::nullopt;
        return fmt::format("{} columns are not {} times a multiple of {}", columns, across, unit);
    };
    const std::set<AxisId> axes = column_axes(plan);
    for (const AxisId axis : axes)
        if (std::optional<std::string> why = why_not(axis, kTile)) return why;
    for (const auto& [leaf, product] : plan.products) {
        const Operand& right = product.right;
        const AxisId rows = right.panel ? right.panel->rows : rows_of(region, plan, *right.direct);
        if (rows == product.depth)
            if (std::optional<std::string> why = why_not(product.column, kPanel)) return why;
        const Operand& left = product.left;
        if (!left.panel && !left.direct && axes.contains(product.depth))
            return "a left operand is computed in registers";
    }
    return std::nullopt;
}

void share_columns(const RegionProgram& region, Plan& plan) {
    for (auto& [leaf, product] : plan.products) {
        if (!is_fragment(plan, product.left) || !plan.split.contains(product.depth)) continue;
        product.left.panel = Panel{*plan.row, product.depth};
        product.left.from_registers = true;
    }
    for_computes(region, [&](LeafId leaf, const Compute& compute) {
        const Fold* fold = std::get_if<Fold>(&compute.statement.body);
        if (fold == nullptr || plan.products.contains(leaf)) return;
        // Of a result that is none of rows, threads fold elements of their own.
        if (plan.tiles.at(compute.targets.front()).home == Home::Shared) return;
        const std::set<AxisId> along = axes_along(plan.tile_axes, fold->values.front());
        for (const AxisId axis : fold->over)
            if (plan.split.contains(axis) && along.contains(axis)) plan.shared_folds.insert(leaf);
    });
}

}  // namespace napkin::schedule
