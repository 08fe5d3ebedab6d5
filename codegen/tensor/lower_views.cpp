// Where the elements of views are in their arrays.
#include <algorithm>

#include "codegen/tensor/tensor_lowering.h"
#include "schedule/straight_reads.h"

namespace napkin::lowering {

namespace {

/// How much of a tile is there, as an int.
IndexForm rest_of(const IndexForm& count, const IndexForm& left) {
    const IndexForm rest = minimum(count, left);
    if (!is_wide(rest)) return rest;
    return index_atom(kernel::call("int", {expression_of(rest)}), range_of(rest));
}

}  // namespace

bool TensorLowering::Source::repeats() const {
    return std::any_of(left.begin(), left.end(), [](const auto& rest) { return rest.has_value(); });
}

ExpressionScope TensorLowering::scope_of_places(const std::vector<Expression>& places) {
    ExpressionScope scope;
    scope.sizes = &sizes_;
    scope.arrays = &region_.arrays;
    for (const Expression& index : places) {
        note_parameters(index, scope);
        for (const ArrayId array : arrays_read(index))
            for (const auto& [variable, other] : loads_)
                if (region_.variables[variable.index()].array == array)
                    add_element(scope, variable);
    }
    return scope;
}

/// The indices in its array of an element of a view.
std::vector<IndexForm> TensorLowering::indices_in_view(const Load& load, ElementScope element) {
    const ExpressionScope scope = scope_of_places(load.gather);
    for (const schedule::TileAxis& tile : plan_.tile_axes)
        if (element.index.contains(tile.axis))
            for (const schedule::TilePart& part : tile.parts)
                element.index.try_emplace(part.axis,
                                          ranges_.at(part.axis).start + local_index(part.axis));
    for (const auto& [axis, range] : ranges_) element.index.try_emplace(axis, range.start);
    std::vector<IndexForm> indices;
    for (const Expression& index : load.gather)
        indices.push_back(ExpressionPrinter(scope).index(index, element));
    return indices;
}

std::vector<IndexForm> TensorLowering::inside_view(const Load& load, ElementScope element,
                                                   std::optional<std::size_t> inside) {
    std::vector<IndexForm> indices = indices_in_view(load, std::move(element));
    const std::vector<AxisId>& dimensions = region_.arrays[load.array.index()].axes;
    for (std::size_t d = 0; d < indices.size(); ++d)
        if (d != inside && !schedule::clamped(load.gather[d], dimensions[d]))
            indices[d] = kept_inside(indices[d], dimensions[d]);
    return indices;
}

TensorLowering::Source TensorLowering::source_of(const Load& load) {
    Source source;
    const std::vector<AxisId>& dimensions = region_.arrays[load.array.index()].axes;
    for (const std::vector<Expression>& index : load.index) {
        const AxisRange& range = ranges_.at(std::get<AxisIndex>(index.front().node).axis);
        source.origin.push_back(range.start);
        source.count.push_back(range.count);
        source.left.emplace_back();
    }
    if (!schedule::is_view(load)) return source;
    Load free = load;
    for (std::size_t d = 0; d < dimensions.size(); ++d)
        if (const auto index = schedule::clamped(load.gather[d], dimensions[d]))
            free.gather[d] = *index;
    source.origin = indices_in_view(free, {});
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
        if (std::holds_alternative<AxisIndex>(load.gather[d].node)) continue;
        const IndexForm left = sizes_[dimensions[d].index()] - source.origin[d];
        if (free.gather[d] == load.gather[d] || plan_.tiles.at(load.target).zero_past_end)
            source.count[d] = rest_of(source.count[d], left);
        else
            source.left[d] = rest_of(source.count[d], left);
    }
    return source;
}

}  // namespace napkin::lowering
