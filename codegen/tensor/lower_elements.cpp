// The elements that a thread holds: loops over them, what their names mean, their values as code.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/lowering/element_test.h"
#include "codegen/tensor/tensor_lowering.h"
#include "diagrams/contains.h"
#include "diagrams/memory_order.h"
#include "schedule/straight_reads.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::define;
using kernel::variable;
using schedule::Home;

bool is_trivial(const Expression& expression) {
    return std::holds_alternative<Number>(expression.node) ||
           std::holds_alternative<SizeOf>(expression.node) ||
           std::holds_alternative<AxisIndex>(expression.node);
}

}  // namespace

TensorLowering::Columns TensorLowering::columns_of(AxisId axis) const {
    const std::int64_t extent = plan_.extents.at(axis);
    Columns columns;
    if (plan_.has_products()) {
        constexpr std::int64_t kColumnsOfTile = 8;
        columns.padded = padded(extent, schedule::kTile);
        columns.split = plan_.split.contains(axis);
        const std::int64_t across =
            columns.padded / (columns.split ? plan_.warps_across : 1) / kColumnsOfTile;
        columns.type = {"Fragment", {plan_.rows_of_warp / schedule::kTile, across}};
        columns.count = across * 2;
        return columns;
    }
    const std::int64_t unit = plan_.lanes_per_row * plan_.vector;
    columns.padded = padded(extent, unit);
    columns.count = columns.padded / plan_.lanes_per_row;
    columns.type = {
        "RowFragment",
        {plan_.rows_of_thread(), columns.padded / unit, plan_.vector, plan_.lanes_per_row}};
    return columns;
}

kernel::Type TensorLowering::rows_type() const {
    if (plan_.has_products()) return {"Fragment", {plan_.rows_of_warp / schedule::kTile, 1}};
    return {"RowFragment", {plan_.rows_of_thread(), 1, plan_.vector, plan_.lanes_per_row}};
}

/// An index in the block's part of an axis, what pads the part included.
IndexForm TensorLowering::local_index(AxisId axis) const {
    constexpr std::int64_t kMostPadding = 256;
    const std::int64_t capacity = ranges_.at(axis).capacity;
    const std::int64_t most =
        is_part(axis) ? capacity + kMostPadding : padded(capacity, kMostPadding);
    return counted(axis_names_[axis.index()].local, most - 1);
}

std::vector<schedule::TilePart> TensorLowering::tile_parts(AxisId axis) const {
    const schedule::TileAxis* tile = schedule::find_tile_axis(plan_.tile_axes, axis);
    return tile == nullptr ? std::vector<schedule::TilePart>{} : tile->parts;
}

bool TensorLowering::is_part(AxisId axis) const {
    return schedule::tile_axis_of(plan_.tile_axes, axis) != axis;
}

std::set<AxisId> TensorLowering::along(const Expression& expression) const {
    return schedule::axes_along(plan_.tile_axes, expression);
}

Body TensorLowering::define_parts(AxisId axis) const {
    Body body;
    std::int64_t stride = 1;
    const std::vector<schedule::TilePart> parts = tile_parts(axis);
    for (const schedule::TilePart& part : parts) stride *= part.extent;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        stride /= parts[p].extent;
        kernel::Expression index = variable(axis_names_[axis.index()].local);
        if (stride > 1) index = std::move(index) / stride;
        if (p > 0) index = std::move(index) % parts[p].extent;
        body.push_back(define("int", axis_names_[parts[p].axis.index()].local, std::move(index)));
    }
    return body;
}

/// What pads the axis is past the end of its first part.
kernel::Expression TensorLowering::is_inside(AxisId axis, std::int64_t padded_to) const {
    const auto below_count = [&](AxisId of) {
        return variable(axis_names_[of.index()].local) < expression_of(ranges_.at(of).count);
    };
    const std::vector<schedule::TilePart> parts = tile_parts(axis);
    if (parts.empty())
        return ranges_.at(axis).count.is_constant(padded_to) ? true : below_count(axis);
    const bool pads = padded_to != plan_.extents.at(axis);
    kernel::Expression all = true;
    for (const schedule::TilePart& part : parts) {
        const bool whole = ranges_.at(part.axis).count.is_constant(part.extent);
        if (!whole || (pads && part == parts.front()))
            all = std::move(all) && below_count(part.axis);
    }
    return all;
}

std::int64_t TensorLowering::padded_extent(AxisId axis) const {
    return axis == plan_.row ? plan_.rows_of_warp * plan_.warps_down : columns_of(axis).padded;
}

kernel::Expression TensorLowering::test_of(AxisId axis) const {
    const AxisId tile = schedule::tile_axis_of(plan_.tile_axes, axis);
    if (tile == axis) return is_inside(axis, padded_extent(axis));
    const schedule::TilePart first = tile_parts(tile).front();
    const AxisRange& range = ranges_.at(axis);
    const bool pads = axis == first.axis && padded_extent(tile) != plan_.extents.at(tile);
    if (!pads && range.exact()) return true;
    return variable(axis_names_[axis.index()].local) < expression_of(range.count);
}

IndexForm TensorLowering::count_of(AxisId axis) const {
    const std::vector<schedule::TilePart> parts = tile_parts(axis);
    if (parts.empty()) return ranges_.at(axis).count;
    IndexForm count = 1;
    for (const schedule::TilePart& part : parts) count = count * ranges_.at(part.axis).count;
    return count;
}

/// The first index along the row axis, or the one that warps share, of this warp.
kernel::Expression TensorLowering::warp_part(AxisId axis) const {
    return variable(warp_parts_.at(axis));
}
IndexForm TensorLowering::warp_index(AxisId axis) const {
    return index_atom(warp_part(axis), {0, range_of(local_index(axis)).high});
}

kernel::Expression TensorLowering::matrix(VariableId id) const {
    return shared_buffer(schedule_.buffer_of.at(id));
}

kernel::Expression TensorLowering::place(VariableId id) const {
    return variable(names_of_.at(id));
}

kernel::Expression TensorLowering::element_at(VariableId id) const {
    switch (plan_.tiles.at(id).home) {
    case Home::Row: return subscript(place(id), variable("i"));
    case Home::Fragment: return element(place(id), {variable("i"), variable("j")});
    default: return place(id);
    }
}

/// What the registers of a variable mean.
Code TensorLowering::held_at(VariableId id, bool finite) const {
    const ElementType type = plan_.tiles.at(id).type;
    Code code = real_code(element_at(id), finite);
    if (is_floating(type)) return code;
    if (type != ElementType::Bool)
        return integer_code(element_at(id), range_of(type), type == ElementType::I64);
    code.sort = Sort::Boolean;
    return code;
}

/// Whether rows are held two numbers in a register.
bool TensorLowering::is_in_pairs(VariableId id) const {
    const schedule::Tile& tile = plan_.tiles.at(id);
    return plan_.rows_in_pairs > 0 && tile.home == Home::Fragment && tile.type != ElementType::F32;
}

void TensorLowering::declare(VariableId id, Body& body) {
    if (!declared_.insert(id).second) return;
    const schedule::Tile& tile = plan_.tiles.at(id);
    const kernel::Type type = tile.type == ElementType::Bool ? kernel::Type("bool")
                              : is_floating(tile.type)
                                  ? kernel::Type("float")
                                  : kernel::Type(kernel::element_name(tile.type));
    switch (tile.home) {
    case Home::Thread: body.push_back(kernel::declare(type, names_of_.at(id))); break;
    case Home::Row:
        body.push_back(
            kernel::declare_array(type, names_of_.at(id), {kernel::scoped("Rows", "rows")}));
        break;
    case Home::Fragment: {
        kernel::Type rows = columns_of(*tile.column).type;
        if (is_in_pairs(id)) {
            rows.name = loads_.contains(id) ? "LoadedRows" : "RoundedRows";
            rows.arguments.insert(rows.arguments.begin(),
                                  kernel::Type(kernel::element_name(tile.type)));
        }
        body.push_back(kernel::declare(
            rows, names_of_.at(id), std::nullopt,
            fmt::format("{} of this warp", region_.axes[tile.column->index()].name)));
        break;
    }
    default: break;
    }
}

/// `for i` over the rows of a thread, with the row's index declared.
Body TensorLowering::row_loop(Body inner) const {
    Body body;
    if (plan_.row)
        body.push_back(
            define("int", axis_names_[plan_.row->index()].local,
                   warp_part(*plan_.row) + invoke(kernel::scoped("Rows", "row"), {variable("i")})));
    if (plan_.row) append(body, define_parts(*plan_.row));
    append(body, std::move(inner));
    return {kernel::unrolled_loop("i", kernel::scoped("Rows", "rows"), std::move(body))};
}

Body TensorLowering::column_loop(AxisId axis, Body inner) const {
    const Columns columns = columns_of(axis);
    kernel::Expression column = invoke(kernel::scoped(columns.type, "column"), {variable("j")});
    if (columns.split) column = warp_part(axis) + std::move(column);
    Body body = {define("int", axis_names_[axis.index()].local, std::move(column))};
    append(body, define_parts(axis));
    append(body, std::move(inner));
    return {kernel::unrolled_loop("j", columns.count, std::move(body))};
}

ElementScope TensorLowering::element_of(const Domain& domain) const {
    ElementScope element;
    for (const auto& [axis, range] : ranges_) {
        const AxisId tile = schedule::tile_axis_of(plan_.tile_axes, axis);
        const bool inside =
            (domain.row && tile == plan_.row) || tile == domain.column || looped_.contains(tile);
        // A run-time size that the plan has as 1 may be no larger, whatever its groups are.
        const auto planned = plan_.extents.find(axis);
        const bool single =
            range.capacity == 1 || (planned != plan_.extents.end() && planned->second == 1);
        if (inside)
            element.index[axis] = range.start + local_index(axis);
        else if (single)
            element.index[axis] = range.start;
    }
    return element;
}

kernel::Expression TensorLowering::row_test() const {
    return plan_.row ? is_inside(*plan_.row, padded_extent(*plan_.row)) : kernel::Expression(true);
}

kernel::Expression TensorLowering::column_test(AxisId axis) const {
    return is_part(axis) ? test_of(axis) : is_inside(axis, schedule::vector_extent(plan_, axis));
}

kernel::Expression TensorLowering::test_in_chunk(AxisId axis) const {
    const bool of_chunk = chunked_ && schedule::tile_axis_of(plan_.tile_axes, *chunked_) == axis;
    return of_chunk ? !tested_ || column_test(axis) : column_test(axis);
}

kernel::Expression TensorLowering::first_across() const {
    if (plan_.warps_across == 1) return true;
    const kernel::Expression unit =
        in_groups() ? call("warp_index") / schedule::kWarpsOfGroup : call("warp_index");
    return equal(unit % plan_.warps_across, 0);
}

kernel::Expression TensorLowering::row_leader() const {
    const auto first = [](kernel::Expression thread, kernel::Expression of) {
        return equal(std::move(thread) % std::move(of), 0);
    };
    if (!plan_.row) return equal(kernel::thread_index(), 0);
    if (!plan_.has_products())
        return plan_.lanes_per_row == 1 ? true : first(kernel::thread_index(), plan_.lanes_per_row);
    const kernel::Expression lane =
        first(call("lane_index"), kernel::scoped("Rows", "lanes_per_row"));
    return lane && first_across();
}

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
        return inside && !runs_past(axis) ? at : minimum(at, size - 1);
    }
    return minimum(range_of(at).low < 0 ? maximum(at, IndexForm(0)) : at, size - 1);
}

IndexForm TensorLowering::place_in_tile(const IndexForm& at, const IndexForm& origin, AxisId own,
                                        std::int64_t held) const {
    const IndexForm local = at - origin;
    const Interval range = range_of(local);
    if (range.low >= 0 && range.high < held) return local;
    if (ranges_.contains(own) && local == local_index(own)) return local;
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
        element.index[axes[d]] = last ? minimum(at[d], sizes_[axes[d].index()] - 1) : at[d];
    }
    std::vector<IndexForm> places;
    for (const Expression& index : load.gather)
        places.push_back(ExpressionPrinter(scope).index(index, element));
    return places;
}

ExpressionScope TensorLowering::scope_for(const Compute& compute) {
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
    const std::set<AxisId> paired = paired_columns(compute);
    for (const VariableId variable : compute.reads) {
        const bool is_plain =
            as_integers || compared.contains(region_.variables[variable.index()].array);
        add_element(scope, variable, is_plain ? std::set<AxisId>{} : paired);
    }
    for (const Expression* expression : expressions_of(compute.statement))
        note_parameters(*expression, scope);
    return scope;
}

/// The expression as it is printed: divisors that are the same along a row become factors, and take
/// the number with them that multiplies what they divide.
Expression TensorLowering::prepared(const Expression& value, const Domain& domain) const {
    const schedule::Scaler scaler(region_, scales_);
    Expression expanded = scaler.expand(value);
    if (!domain.column) return expanded;
    const auto varies = [&](const Expression& e) { return along(e).contains(*domain.column); };
    return rewrite(expanded, [&](const Expression& node) -> Expression {
        const Apply* call = std::get_if<Apply>(&node.node);
        if (call == nullptr || call->function != Function::Divide) return node;
        const Expression& divisor = call->arguments[1];
        if (schedule::constant_value(region_, divisor) || varies(divisor) ||
            !varies(call->arguments[0]))
            return node;
        const schedule::Scaled scaled = schedule::Scaler(region_, {}).split(call->arguments[0]);
        return apply(Function::Multiply,
                     {scaled.rest, apply(Function::Divide, {number(scaled.factor), divisor})});
    });
}

/// Conditions on which values depend, as elements test them.
void TensorLowering::name_tests(const Expression& whole, AxisId column, const ElementScope& element,
                                ExpressionScope& scope, Body& before) const {
    std::set<std::string> columns = {axis_names_[column.index()].local};
    for (const schedule::TilePart& part : tile_parts(column))
        columns.insert(axis_names_[part.axis.index()].local);
    walk(whole, [&](const Expression& part) {
        const Apply* call = std::get_if<Apply>(&part.node);
        if (call == nullptr || call->function != Function::Select) return;
        const Expression& condition = call->arguments.front();
        const bool is_known =
            std::any_of(scope.named.begin(), scope.named.end(),
                        [&](const auto& each) { return each.first == condition; });
        if (is_known || !along(condition).contains(column)) return;
        Code test = element_test(condition, scope, element, columns, before);
        scope.named.emplace_back(condition, std::move(test));
    });
}

/// What either branch of a condition reads in shared memory is read before: threads of a warp that
/// go both ways would take turns.
void TensorLowering::name_branches(const Expression& whole, const ElementScope& element,
                                   ExpressionScope& scope, Body& inside) {
    const auto name_read = [&](const Expression& part) {
        const Read* read = std::get_if<Read>(&part.node);
        if (read == nullptr) return;
        const bool is_shared = std::any_of(shared_.begin(), shared_.end(), [&](const auto& each) {
            return region_.variables[each.first.index()].array == read->array &&
                   plan_.tiles.at(each.first).home == Home::Matrix;
        });
        const bool is_known = std::any_of(scope.named.begin(), scope.named.end(),
                                          [&](const auto& each) { return each.first == part; });
        if (!is_shared || is_known) return;
        Code code = ExpressionPrinter(scope).print(part, element);
        const std::string name = fmt::format("t{}", temporaries_++);
        inside.push_back(define(type_of(code), name, std::exchange(code.value, variable(name))));
        scope.named.emplace_back(part, std::move(code));
    };
    walk(whole, [&](const Expression& part) {
        const Apply* call = std::get_if<Apply>(&part.node);
        if (call == nullptr || call->function != Function::Select) return;
        for (std::size_t i = 1; i < call->arguments.size(); ++i)
            walk(call->arguments[i], name_read);
    });
}

Code TensorLowering::print_hoisted(const Expression& value, const Domain& domain,
                                   ExpressionScope& scope, Body& before, Body& inside) {
    return as_sort(hoisted(value, domain, scope, before, inside), Sort::Real);
}

Code TensorLowering::hoisted(const Expression& value, const Domain& domain, ExpressionScope& scope,
                             Body& before, Body& inside) {
    const Expression whole = prepared(value, domain);
    ElementScope element = element_of(domain);
    if (domain.column) {
        element.temporaries = &before;
        element.next_temporary = &temporaries_;
        const auto fixed = [&](const Expression& e) {
            if (along(e).contains(*domain.column) || is_trivial(e)) return false;
            if (schedule::constant_value(region_, e)) return false;
            if (const Read* read = std::get_if<Read>(&e.node)) {
                // Registers need no second name.
                return std::any_of(loads_.begin(), loads_.end(), [&](const auto& entry) {
                    return region_.variables[entry.first.index()].array == read->array;
                });
            }
            return !arrays_read(e).empty();
        };
        const auto hoist = [&](const auto& self, const Expression& e) -> void {
            if (std::holds_alternative<Operand>(e.node)) return;
            if (fixed(e)) {
                for (const auto& [known, name] : scope.named)
                    if (known == e) return;
                Code code = ExpressionPrinter(scope).print(e, element);
                Code name = code;
                const std::string short_name = fmt::format("r{}", scope.named.size());
                name.value = variable(short_name);
                name.index.reset();
                before.push_back(define(type_of(code), short_name, code.value));
                scope.named.emplace_back(e, name);
                return;
            }
            if (const Apply* call = std::get_if<Apply>(&e.node))
                for (const Expression& argument : call->arguments) self(self, argument);
            if (const Convert* convert = std::get_if<Convert>(&e.node))
                self(self, convert->argument.front());
        };
        hoist(hoist, whole);
        name_tests(whole, *domain.column, element, scope, before);
    }
    element.temporaries = &inside;
    element.next_temporary = &temporaries_;
    const std::size_t known = scope.named.size();
    name_branches(whole, element, scope, inside);
    Code code = ExpressionPrinter(scope).print(whole, element);
    scope.named.resize(known);
    return code;
}

}  // namespace napkin::lowering
