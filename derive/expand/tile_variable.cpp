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
std::int64_t hull_width(const TileScope& scope, const View& view, std::size_t dimension,
                        Level level, std::int64_t extent) {
    Ranges tile;
    for (AxisId used : view.axes)
        tile[used] = {0, width_of(scope.diagram, scope.region, used, level) - 1};
    std::optional<Interval> hull;
    for (const Expression& index : view.index[dimension]) {
        const std::optional<Interval> range = bounds(scope.diagram.axes, index, tile);
        if (!range) continue;
        hull = hull ? Interval{std::min(hull->low, range->low), std::max(hull->high, range->high)}
                    : *range;
    }
    return hull ? std::min(hull->high - hull->low + 1, extent) : extent;
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
        const std::int64_t extent = scope.diagram[wire.axes[k]].extent;
        const std::int64_t width = hull_width(scope, *view, k, level, extent);
        variable.capacity.emplace_back(width);
        variable.capacity_extent.push_back(width);
    }
    return variable;
}

}  // namespace napkin
