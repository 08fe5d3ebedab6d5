#include "derive/expand/tile_variable.h"

#include <algorithm>
#include <optional>

#include "derive/widths.h"
#include "diagrams/index/interval.h"

namespace napkin {

namespace {

ElementType type_of(const TileScope& scope, ArrayId array, const Array& wire, const View* view) {
    if (view != nullptr) return storage_type(scope.diagram, scope.relabelling, view->source);
    const auto retyped = scope.relabelling.wire_types.find(array);
    return retyped != scope.relabelling.wire_types.end() ? retyped->second : wire.type;
}

/// The axis that a dimension follows one to one, if any.
std::optional<AxisId> plain_axis(const Array& wire, const View* view, std::size_t dimension) {
    if (view == nullptr || !view->gather.empty()) return wire.axes[dimension];
    const std::vector<Expression>& index = view->index[dimension];
    const AxisIndex* plain = index.size() == 1 ? std::get_if<AxisIndex>(&index[0].node) : nullptr;
    return plain != nullptr ? std::optional(plain->axis) : std::nullopt;
}

/// The hull of affine or clamped indices over tiles that start at 0, which is exact for linear
/// ones.
std::optional<std::int64_t> hull_width(const TileScope& scope,
                                       const std::vector<Expression>& indices, const Ranges& tile) {
    std::optional<Interval> hull;
    for (const Expression& index : indices) {
        const std::optional<Interval> range = bounds(scope.diagram.axes, index, tile);
        if (!range) continue;
        hull = hull ? Interval{std::min(hull->low, range->low), std::max(hull->high, range->high)}
                    : *range;
    }
    return hull ? std::optional(hull->high - hull->low + 1) : std::nullopt;
}

bool is_linear(const Expression& index) {
    bool linear = true;
    walk(index, [&](const Expression& node) {
        const Apply* call = std::get_if<Apply>(&node.node);
        if (std::holds_alternative<Read>(node.node)) linear = false;
        if (call == nullptr) return;
        linear =
            linear && (call->function == Function::Add || call->function == Function::Subtract ||
                       call->function == Function::Multiply || call->function == Function::Negate);
    });
    return linear;
}

/// The hull of linear indices as a sum over the widths of axes: how much one more of each adds.
std::optional<Formula> hull_formula(const TileScope& scope, const std::vector<Expression>& indices,
                                    const Ranges& tile, std::int64_t width, Level level) {
    if (!std::all_of(indices.begin(), indices.end(), is_linear)) return std::nullopt;
    Formula sum(0);
    std::int64_t rest = width;
    for (const auto& [axis, range] : tile) {
        Ranges longer = tile;
        ++longer[axis].high;
        const std::optional<std::int64_t> more = hull_width(scope, indices, longer);
        if (!more) return std::nullopt;
        if (*more == width) continue;
        sum = sum + Formula(*more - width) * width_formula(scope.region, axis, level);
        rest -= (*more - width) * (range.high + 1);
    }
    return sum + Formula(rest);
}

/// How much of a dimension that is read at computed indices a tile holds.
void add_hull(const TileScope& scope, const View& view, std::size_t dimension, AxisId axis,
              Variable& variable) {
    const std::int64_t extent = scope.diagram[axis].extent;
    Ranges tile;
    for (AxisId used : view.axes)
        tile[used] = {0, width_of(scope.diagram, scope.region, used, variable.level) - 1};
    const std::vector<Expression>& indices = view.index[dimension];
    const std::int64_t width = hull_width(scope, indices, tile).value_or(extent);
    variable.capacity_extent.push_back(std::min(width, extent));
    if (width >= extent) {
        variable.capacity.emplace_back(axis_size(axis));
        return;
    }
    variable.capacity.push_back(
        hull_formula(scope, indices, tile, width, variable.level).value_or(Formula(width)));
}

}  // namespace

Variable tile_variable(const TileScope& scope, ArrayId array, const Array& wire, const View* view,
                       Level level) {
    Variable variable;
    variable.name = wire.name;
    variable.array = array;
    variable.level = level;
    variable.type = type_of(scope, array, wire, view);
    variable.span = wire.span;
    for (std::size_t k = 0; k < wire.axes.size(); ++k) {
        if (const std::optional<AxisId> axis = plain_axis(wire, view, k)) {
            variable.capacity.push_back(width_formula(scope.region, *axis, level));
            variable.capacity_extent.push_back(width_of(scope.diagram, scope.region, *axis, level));
            continue;
        }
        add_hull(scope, *view, k, wire.axes[k], variable);
    }
    return variable;
}

}  // namespace napkin
