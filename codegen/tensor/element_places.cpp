// What arrays are in the expressions of a computation: registers, or places in shared and device
// memory.
#include <algorithm>

#include "codegen/tensor/tensor_lowering.h"
#include "diagrams/contains.h"
#include "diagrams/memory_order.h"
#include "diagrams/rounding.h"
#include "schedule/straight_reads.h"

namespace napkin::lowering {
namespace {

using kernel::call;
using kernel::variable;
using schedule::Home;

/// The nearest index of a dimension.
IndexForm kept_below(const IndexForm& at, const IndexForm& size) {
    return minimum(range_of(at).low < 0 ? maximum(at, IndexForm(0)) : at, size - 1);
}

}  // namespace

/// Functions for which a small integer is not the real number that it is elsewhere.
bool TensorLowering::needs_integers(const Expression& value) {
    bool found = false;
    walk(value, [&](const Expression& node) {
        const Apply* apply = std::get_if<Apply>(&node.node);
        if (apply == nullptr) return;
        const Function f = apply->function;
        found = found || f == Function::FloorDivide || f == Function::Modulo ||
                (f >= Function::BitAnd && f <= Function::ShiftRight);
    });
    return found;
}

/// The axes along which a thread that computes holds neighbours, the first at an even index.
std::set<AxisId> TensorLowering::paired_columns(const Compute& compute) const {
    std::set<AxisId> columns;
    if (!plan_.has_products()) return columns;
    for (const auto& [leaf, product] : plan_.products) {
        if (&std::get<Compute>(leaves_[leaf.index()]->node) != &compute) continue;
        columns.insert(product.column);
        if (!product.left.panel) columns.insert(product.depth);
        return columns;
    }
    const schedule::Tile& tile = plan_.tiles.at(compute.targets.front());
    if (tile.home == Home::Fragment && tile_parts(*tile.column).empty())
        columns.insert(*tile.column);
    return columns;
}

/// The innermost dimension of an array, where words of two elements begin at its even places and a
/// thread that reads one needs the other. What several statements read is read again by each of
/// them: words would be held from one to the next.
std::optional<std::size_t> TensorLowering::word_dimension(VariableId id,
                                                          const std::set<AxisId>& paired) {
    const Load& load = *loads_.at(id);
    const ElementType type = device_type(load.array);
    const Array& array = region_.arrays[load.array.index()];
    const bool is_plain = load.gather.empty() && !schedule::is_tiled(plan_.tile_axes, load);
    const auto readers = std::count_if(leaves_.begin(), leaves_.end(), [&](const auto* leaf) {
        const Compute* compute = std::get_if<Compute>(&leaf->node);
        return compute != nullptr && contains(compute->reads, id);
    });
    if (readers != 1) return std::nullopt;
    if ((type != ElementType::BF16 && type != ElementType::F16) || array.axes.empty() || !is_plain)
        return std::nullopt;
    const std::size_t last = innermost_dimension(array);
    const AxisIndex* axis = std::get_if<AxisIndex>(&load.index[last].front().node);
    if (axis == nullptr || load.index[last].size() != 1 || !paired.contains(axis->axis) ||
        vector_elements(load.array, divisor_of(ranges_.at(axis->axis).start)) == 1)
        return std::nullopt;
    return last;
}

void TensorLowering::add_element(ExpressionScope& scope, VariableId id,
                                 const std::set<AxisId>& paired) {
    const ArrayId array = region_.variables[id.index()].array;
    const schedule::Tile tile = plan_.tiles.at(id);
    const bool finite = !plan_.infinite.contains(array);
    switch (tile.home) {
    case Home::Thread:
    case Home::Row:
    case Home::Fragment:
        scope.elements[array] = [=, this](const auto&) { return held_at(id, finite); };
        return;
    case Home::Shared:
        scope.elements[array] = [=, this](const std::vector<IndexForm>& at) {
            const Array& info = region_.arrays[array.index()];
            IndexForm local;
            for (std::size_t d = 0; d < info.axes.size(); ++d)
                if (info.axes[d] == *tile.column)
                    local = place_in_tile(at[d], ranges_.at(*tile.column).start, *tile.column,
                                          schedule::vector_extent(plan_, *tile.column));
            Code code = loaded(subscript(matrix(id), expression_of(local)), tile.type);
            code.finite = finite;
            code.place = local;
            return code;
        };
        return;
    case Home::Matrix:
        scope.elements[array] = [=, this](const std::vector<IndexForm>& at) {
            const Shared& shared = shared_.at(id);
            const auto local = [&](std::size_t d, std::int64_t held) {
                return expression_of(place_in_tile(at[d], shared.origin[d], shared.axes[d], held));
            };
            const std::vector<kernel::Expression> place = {
                local(tile.row_dimension, tile.rows), local(tile.column_dimension, tile.columns)};
            const bool pairs = tile.type == ElementType::BF16 || tile.type == ElementType::F16;
            if (tile.type == ElementType::I4)
                return integer_code(call("nibble_of", {matrix(id), place[0], place[1]}),
                                    range_of(tile.type));
            const bool bytes = tile.type == ElementType::I8 && !paired.empty();
            Code code = pairs || bytes
                            ? real_code(call("element_of", {matrix(id), place[0], place[1]}))
                            : loaded(element(matrix(id), place), tile.type);
            code.finite = finite;
            return code;
        };
        return;
    case Home::Device: break;
    }
    const std::optional<std::size_t> words = word_dimension(id, paired);
    scope.elements[array] = [=, this](const std::vector<IndexForm>& at) {
        const ArrayId from = loads_.at(id)->array;
        const std::vector<IndexForm> inside = device_indices(id, at, std::nullopt);
        Code code = device_element(from, inside);
        if (words && inside[*words] == at[*words])
            code.value = call("element_of", {variable(buffer_name(from, false)),
                                             expression_of(*code.place), variable("j") % 2});
        code.finite = finite || code.sort != Sort::Real;
        return code;
    };
}

/// Where an element of a variable that stays in device memory is in its array. Along `inside`, no
/// index is past the end.
std::vector<IndexForm> TensorLowering::device_indices(VariableId id, std::vector<IndexForm> at,
                                                      std::optional<std::size_t> inside) {
    const Load& load = *loads_.at(id);
    const ArrayId array = region_.variables[id.index()].array;
    const std::vector<AxisId>& axes = region_.arrays[load.array.index()].axes;
    // What gathers read is inside by contract.
    if (schedule::is_view(load)) {
        ElementScope element;
        const std::vector<AxisId>& own = region_.arrays[array.index()].axes;
        for (std::size_t d = 0; d < own.size(); ++d) element.index[own[d]] = at[d];
        return inside_view(load, std::move(element), inside);
    }
    if (!load.gather.empty()) return gathered(load, array, at, inside);
    for (std::size_t d = 0; d < at.size(); ++d)
        if (d != inside) at[d] = kept_inside(at[d], axes[d]);
    return at;
}

/// Whether what is published along the tile axis that this is the first part of has more rows than
/// the tile axis has indices.
bool TensorLowering::runs_past(AxisId part) const {
    const AxisId tile = schedule::tile_axis_of(plan_.tile_axes, part);
    return tile != part && tile != plan_.row && part == tile_parts(tile).front().axis &&
           plan_.extents.at(tile) % schedule::kTile != 0;
}

/// An index that is read although what stands past an edge, or where a condition does not hold, is
/// never used.
IndexForm TensorLowering::kept_inside(const IndexForm& at, AxisId dimension) const {
    const IndexForm& size = sizes_[dimension.index()];
    if (at.is_constant(0)) return at;
    if (at.is_constant() && at.constant > 0 && size.is_constant() && at.constant < size.constant)
        return at;
    for (std::size_t a = 0; a < axis_names_.size(); ++a) {
        const AxisId axis{static_cast<std::uint32_t>(a)};
        if (!ranges_.contains(axis) || sizes_[a] != size) continue;
        const AxisRange& range = ranges_.at(axis);
        if (at == range.start) return at;
        if (at != range.start + local_index(axis)) continue;
        if (looped_.contains(axis)) return at;
        const bool inside = is(axis == plan_.row ? row_test() : column_test(axis), true);
        if (inside && !runs_past(axis)) return at;
        break;
    }
    return kept_below(at, size);
}

/// How many indices along a part of a tile axis threads ask for: what pads the tile axis counts as
/// more of its first part.
std::int64_t TensorLowering::indices_along(AxisId part) const {
    const AxisId tile = schedule::tile_axis_of(plan_.tile_axes, part);
    const std::vector<schedule::TilePart> parts = tile_parts(tile);
    const std::int64_t held = ranges_.at(part).capacity;
    if (part != parts.front().axis) return held;
    std::int64_t inner = 1;
    for (const schedule::TilePart& each : parts)
        if (each.axis != part) inner *= each.extent;
    return std::max(held, ceil_quotient(padded_extent(tile), inner));
}

IndexForm TensorLowering::place_in_tile(const IndexForm& at, const IndexForm& origin, AxisId own,
                                        std::int64_t held) const {
    const IndexForm local = at - origin;
    const Interval range = range_of(local);
    if (range.low >= 0 && range.high < held) return local;
    const bool is_own = ranges_.contains(own) && local == local_index(own);
    if (is_own && (!is_part(own) || indices_along(own) <= held)) return local;
    return minimum(range.low < 0 ? maximum(local, IndexForm(0)) : local, IndexForm(held - 1));
}

/// Where a gathered element stands in its array.
std::vector<IndexForm> TensorLowering::gathered(const Load& load, ArrayId target,
                                                const std::vector<IndexForm>& at,
                                                std::optional<std::size_t> inside) {
    const ExpressionScope scope = scope_of_places(load.gather);
    ElementScope element;
    const std::vector<AxisId>& axes = region_.arrays[target.index()].axes;
    for (std::size_t d = 0; d < axes.size(); ++d) {
        // Along the dimension that is read in vectors the gather is the axis itself.
        const bool whole = inside && std::holds_alternative<AxisIndex>(load.gather[*inside].node) &&
                           std::get<AxisIndex>(load.gather[*inside].node).axis == axes[d];
        const bool last = whole ? false
                          : axes[d] == plan_.row
                              ? !is(row_test(), true)
                              : plan_.extents.at(axes[d]) > 1 && !is(column_test(axes[d]), true);
        element.index[axes[d]] = last ? kept_below(at[d], sizes_[axes[d].index()]) : at[d];
    }
    std::vector<IndexForm> places;
    for (const Expression& index : load.gather)
        places.push_back(ExpressionPrinter(scope).index(index, element));
    return places;
}

ExpressionScope TensorLowering::scope_for(const Compute& compute, std::optional<AxisId> along) {
    ExpressionScope scope;
    scope.sizes = &sizes_;
    scope.arrays = &region_.arrays;
    scope.fast = true;
    // A chunk's exponentials are relative to what they are added to; after the loop they may be
    // all of a result.
    scope.gradual = !chunked_;
    scope.known = known_;
    // What conditions read is compared as it comes, and integers may be asked for.
    std::set<ArrayId> compared;
    bool as_integers = false;
    const auto note_compared = [&](const Expression& part) {
        const Apply* call = std::get_if<Apply>(&part.node);
        if (call != nullptr && call->function == Function::Select)
            compared.merge(arrays_read(call->arguments[0]));
    };
    for (const Expression* expression : expressions_of(compute.statement)) {
        walk(*expression, note_compared);
        as_integers = as_integers || needs_integers(*expression);
    }
    std::set<AxisId> paired = paired_columns(compute);
    if (along) std::erase_if(paired, [&](AxisId axis) { return axis != *along; });
    for (const VariableId variable : compute.reads) {
        const bool is_plain =
            as_integers || compared.contains(region_.variables[variable.index()].array);
        add_element(scope, variable, is_plain ? std::set<AxisId>{} : paired);
    }
    for (const Expression* expression : expressions_of(compute.statement))
        note_parameters(*expression, scope);
    return scope;
}

}  // namespace napkin::lowering
