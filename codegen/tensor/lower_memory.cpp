// Copies between device memory and a block's tiles.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "codegen/expression_text.h"
#include "codegen/tensor/tensor_lowering.h"
#include "diagrams/memory_order.h"
#include "schedule/statements.h"
#include "schedule/straight_reads.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::define;
using kernel::only_if;
using kernel::Run;
using kernel::thread_index;
using kernel::variable;
using schedule::Home;

}  // namespace

/// Which part of its array a load has brought, now.
void TensorLowering::note_shared(const Load& load) {
    Shared& shared = shared_[load.target];
    shared = {};
    for (const std::vector<Expression>& index : load.index) {
        const AxisId axis = std::get<AxisIndex>(index.front().node).axis;
        shared.axes.push_back(axis);
        shared.origin.push_back(ranges_.at(axis).start);
        shared.count.push_back(ranges_.at(axis).count);
    }
}

/// Whether vectors of a load are put together, since so few elements are not copied at once.
bool TensorLowering::is_shifted(const Load& load, int width) const {
    constexpr int kLeast = 4;  // bytes of an asynchronous copy
    const ElementType type = device_type(load.array);
    return type != ElementType::I4 && width * kernel::element_bytes(type) < kLeast;
}

/// The copy of a load's part of its array into a matrix.
kernel::Body TensorLowering::copy_matrix(const Load& load, const kernel::Expression& tile) {
    if (schedule::is_tiled(plan_.tile_axes, load)) return copy_gathered(load, tile);
    note_shared(load);
    const schedule::Tile& plan = plan_.tiles.at(load.target);
    const Source source = source_of(load);
    const IndexForm from = device_offset(load.array, source.origin);
    const int width = vector_elements(load.array, divisor_of(source.origin[plan.column_dimension]));
    const std::size_t down = plan.row_dimension;
    const std::size_t across = plan.column_dimension;
    const bool shifted = is_shifted(load, width) && !source.repeats();
    std::vector<kernel::Expression> what = {tile, variable(buffer_name(load.array, false))};
    if (shifted) what.push_back(device_size(load.array));
    what.insert(what.end(),
                {expression_of(from), device_stride(load.array, down),
                 expression_of(source.count[down]), expression_of(source.count[across])});
    if (source.repeats())
        for (const std::size_t d : {down, across})
            what.push_back(expression_of(source.left[d].value_or(source.count[d])));
    // Threads of an agent of their own stand behind those that compute.
    constexpr int kGroup = 128;
    what.push_back(apart_ ? thread_index() - variable("kThreads") : thread_index());
    what.push_back(apart_ ? kernel::Expression(kGroup) : variable("kThreads"));
    if (shifted) return {{Run{call("copy_shifted", std::move(what))}}};
    return {{Run{
        call({source.repeats() ? "copy_repeating" : "copy_async", {width}}, std::move(what))}}};
}

std::pair<int, kernel::Expression> TensorLowering::piece_of(const Gathered& gathered,
                                                            const std::vector<Expression>& index) {
    const Array& array = region_.arrays[gathered.array.index()];
    const std::size_t last = innermost_dimension(array);
    // Neighbours along the columns are neighbours in memory up to the end of the last part.
    const std::vector<schedule::TilePart> parts = tile_parts(gathered.columns);
    const AxisId fastest = parts.empty() ? gathered.columns : parts.back().axis;
    bool straight = index[last] == axis_index(fastest);
    for (std::size_t d = 0; d < index.size(); ++d)
        straight = straight && (d == last || !axes_used(index[d]).contains(fastest));
    const AxisRange& range = ranges_.at(fastest);
    const std::int64_t held = parts.empty() ? gathered.padded_columns : parts.back().extent;
    const int width = vector_elements(
        gathered.array, straight ? std::gcd(divisor_of(range.start), held) : std::int64_t{1});

    const ExpressionScope scope = scope_of_places(index);
    ElementScope element;
    for (const auto& [axis, own] : ranges_) {
        const AxisId tile = schedule::tile_axis_of(plan_.tile_axes, axis);
        const bool varies = tile == gathered.rows || tile == gathered.columns;
        element.index[axis] = varies ? own.start + local_index(axis) : own.start;
    }
    kernel::Expression there = is_inside(gathered.columns, gathered.padded_columns);
    if (gathered.rows) there = is_inside(*gathered.rows, gathered.padded_rows) && std::move(there);
    if (gathered.guard)
        there =
            std::move(there) &&
            as_sort(ExpressionPrinter(scope).print(*gathered.guard, element), Sort::Boolean).value;
    std::vector<IndexForm> at;
    for (std::size_t d = 0; d < index.size(); ++d) {
        at.push_back(ExpressionPrinter(scope).index(index[d], element));
        const bool plain = std::holds_alternative<AxisIndex>(index[d].node);
        if (!plain && !gathered.guard) at[d] = kept_inside(at[d], array.axes[d]);
    }
    kernel::Expression count = width;
    if (width > 1 && !(range.count.is_constant() && range.count.constant % width == 0))
        count = call("minimum", {width, expression_of(range.count - local_index(fastest))});
    Body body = gathered.rows ? define_parts(*gathered.rows) : Body{};
    append(body, define_parts(gathered.columns));
    kernel::Expression from = device_place(gathered.array, at, body);
    if (!is(there, true)) {
        body.push_back(define("bool", "there", std::move(there)));
        count = choose(variable("there"), std::move(count), 0);
    }
    body.push_back({kernel::Return{call("piece", {std::move(from), std::move(count)})}});
    const std::string row =
        gathered.rows ? axis_names_[gathered.rows->index()].local : names_.fresh("row");
    const std::string& column = axis_names_[gathered.columns.index()].local;
    return {width,
            kernel::Expression(kernel::Lambda{{{"int", row}, {"int", column}}, std::move(body)})};
}

/// The copy of a matrix along tile axes.
kernel::Body TensorLowering::copy_gathered(const Load& load, const kernel::Expression& tile) {
    note_shared(load);
    const schedule::Tile& plan = plan_.tiles.at(load.target);
    auto [width, piece] = piece_of(
        {load.array, axis_along(load.target, plan.row_dimension),
         axis_along(load.target, plan.column_dimension), plan.rows, plan.columns, plan.guard},
        load.gather);
    constexpr int kGroup = 128;
    return {{Run{
        call({"copy_pieces", {width}},
             {tile, variable(buffer_name(load.array, false)),
              apart_ ? thread_index() - variable("kThreads") : thread_index(),
              apart_ ? kernel::Expression(kGroup) : variable("kThreads"), std::move(piece)})}}};
}

bool TensorLowering::has_loops() const {
    bool found = false;
    schedule::for_statements(region_.body, [&](const TileStatement&, const Loop* loop) {
        found = found || loop != nullptr;
    });
    return found;
}

void TensorLowering::lower_load(const Load& load, Span span, Body& body) {
    const schedule::Tile& tile = plan_.tiles.at(load.target);
    if (tile.home == Home::Device) return;
    const bool repeated =
        tile.home == Home::Fragment && plan_.row &&
        std::none_of(load.index.begin(), load.index.end(), [&](const auto& index) {
            return axes_used(index.front()).contains(*plan_.row);
        });
    if (repeated && !deferred_.contains(load.target) && !has_loops()) {
        // The same for every row: it comes from a cache, and waits until registers are free.
        deferred_[load.target] = span;
        return;
    }
    // Copies of a loop stand in a function of their own.
    if (!chunked_ || tile.home == Home::Fragment)
        add_comments(fmt::format("load {}", region_.arrays[load.array.index()].name), span, "",
                     body);
    if (tile.home == Home::Fragment) return lower_fragment_load(load, span, body);
    append(body, copy_matrix(load, matrix(load.target)));
}

/// The value of an element in device memory.
Code TensorLowering::device_element(ArrayId array, const std::vector<IndexForm>& at) {
    const IndexForm offset = device_offset(array, at);
    const kernel::Expression place = expression_of(offset);
    const kernel::Expression buffer = variable(buffer_name(array, false));
    const ElementType type = device_type(array);
    if (type == ElementType::I4)
        return integer_code(call("signed_nibble", {subscript(buffer, place / 2), place}),
                            range_of(type));
    Code code = loaded(subscript(buffer, place), type);
    code.place = offset;
    return code;
}

void TensorLowering::lower_save(const schedule::Op& op, const Save& save, Span span, Body& body) {
    if (op.kind == schedule::Op::Kind::Publish) {
        add_comments(fmt::format("save {}", region_.arrays[save.array.index()].name), span, "",
                     body);
        append(body, staged_result(op, save));
        return;
    }
    if (op.kind == schedule::Op::Kind::Hold) return hold(op, save, span, body);
    if (schedule::is_deferred(schedule_, op)) return body.push_back(saved_held(op, save));
    if (!op.writes.empty()) return append(body, saved_in_slices(op, save, span));
    for (const schedule::BufferId read : op.reads)
        if (schedule_[read].place == schedule::Buffer::Place::Shared &&
            schedule_.buffer_of.at(save.source) != read)
            return append(body, staged_save(save, read));
    add_comments(fmt::format("save {}", region_.arrays[save.array.index()].name), span, "", body);
    if (plan_.tiles.at(save.source).home == Home::Fragment && !plan_.has_products())
        return save_rows(save, body);
    append(body, direct_save(save));
}

/// Every warp stores its results in shared memory.
kernel::Body TensorLowering::staged_result(const schedule::Op& op, const Save& save) {
    const schedule::Tile& tile = plan_.tiles.at(save.source);
    kernel::Statement store = {
        Run{call("store", {place(save.source), shared_buffer(op.writes.front()),
                           warp_part(*plan_.row), first_column(*tile.column)})}};
    return only_if(has_columns(*tile.column), {std::move(store)});
}

/// Whether a warp is the one that saves what it holds along the columns: where warps do not share
/// these, all across hold the same.
kernel::Expression TensorLowering::has_columns(AxisId column) const {
    return columns_of(column).split ? true : first_across();
}

/// From there all of them save it in whole vectors.
kernel::Body TensorLowering::staged_save(const Save& save, schedule::BufferId staging) {
    const AxisId row = *plan_.row;
    const AxisId column = *plan_.tiles.at(save.source).column;
    if (!tile_parts(row).empty() || !tile_parts(column).empty()) {
        std::vector<Expression> index;
        for (const AxisId axis : region_.arrays[save.array.index()].axes)
            index.push_back(axis_index(axis));
        auto [width, piece] = piece_of(
            {save.array, row, column, padded_extent(row), padded_extent(column), std::nullopt},
            index);
        return {{Run{call({"save_pieces", {width}},
                          {shared_buffer(staging), variable(buffer_name(save.array, true)),
                           thread_index(), variable("kThreads"), std::move(piece)})}}};
    }
    Body body;
    Destination to = destination_of(save, 0, 0, body);
    body.push_back({Run{call({"save_matrix", {to.width}},
                             {shared_buffer(staging), 0, plan_.rows_of_warp * plan_.warps_down,
                              variable(buffer_name(save.array, true)), std::move(to.first),
                              device_stride(save.array, to.row_dimension), expression_of(to.rows),
                              expression_of(to.columns), thread_index(), variable("kThreads")})}});
    return body;
}

/// Every warp saves its rows by itself, a part of their columns after another.
kernel::Body TensorLowering::saved_in_slices(const schedule::Op& op, const Save& save, Span span) {
    Body body;
    add_comments(fmt::format("save {}", region_.arrays[save.array.index()].name), span, "", body);
    Body slices;
    Destination to = destination_of_warp(save, slices);
    slices.push_back({Run{call({"save_slices", {to.width}},
                               {place(save.source), slices_of_warp(op.writes.front()),
                                variable(buffer_name(save.array, true)), std::move(to.first),
                                device_stride(save.array, to.row_dimension), expression_of(to.rows),
                                expression_of(to.columns)})}});
    const AxisId column = *plan_.tiles.at(save.source).column;
    append(body, only_if(has_columns(column), std::move(slices)));
    return body;
}

kernel::Expression TensorLowering::slices_of_warp(schedule::BufferId slices) const {
    return kernel::element(variable(buffer_names_.at(slices)), {call("warp_index")});
}

TensorLowering::Destination TensorLowering::destination_of_warp(const Save& save, Body& body) {
    const AxisId column = *plan_.tiles.at(save.source).column;
    return destination_of(save, warp_index(*plan_.row),
                          columns_of(column).split ? warp_index(column) : 0, body);
}

/// From the block's row `row` and column `column` on.
TensorLowering::Destination TensorLowering::destination_of(const Save& save, const IndexForm& row,
                                                           const IndexForm& column, Body& body) {
    const schedule::Tile& tile = plan_.tiles.at(save.source);
    const Array& array = region_.arrays[save.array.index()];
    Destination to;
    to.width = vector_elements(save.array, divisor_of(ranges_.at(*tile.column).start));
    to.rows = ranges_.at(*plan_.row).count - row;
    to.columns = ranges_.at(*tile.column).count - column;
    std::vector<IndexForm> origin;
    for (std::size_t d = 0; d < array.axes.size(); ++d) {
        origin.push_back(ranges_.at(array.axes[d]).start);
        if (array.axes[d] == *tile.column) origin.back() = origin.back() + column;
        if (array.axes[d] != *plan_.row) continue;
        to.row_dimension = d;
        origin.back() = origin.back() + row;
    }
    constexpr std::size_t kLong = 70;
    const IndexForm first = device_offset(save.array, origin);
    to.first = expression_of(first);
    if (width_of(to.first) > kLong) {
        const std::string name = names_.fresh(array.name + "_at");
        body.push_back(define(type_of(first), name, std::exchange(to.first, variable(name))));
    }
    return to;
}

/// Element by element: for what no copy in vectors serves.
Body TensorLowering::direct_save(const Save& save) {
    const schedule::Tile& tile = plan_.tiles.at(save.source);
    const Array& array = region_.arrays[save.array.index()];
    const ElementType type = device_type(save.array);
    Domain domain{tile.home == Home::Row || tile.home == Home::Fragment, std::nullopt};
    if (tile.home == Home::Fragment || tile.home == Home::Shared) domain.column = tile.column;
    const ElementScope element = element_of(domain);
    std::vector<IndexForm> at;
    for (const AxisId axis : array.axes) {
        const auto index = element.index.find(axis);
        at.push_back(index == element.index.end() ? IndexForm(0) : index->second);
    }
    const auto store = [&](const Code& value, kernel::Expression tests = true) {
        Body copy;
        const kernel::Expression to = device_place(save.array, at, copy);
        copy.push_back(
            assign(subscript(variable(buffer_name(save.array, true)), to), stored(value, type)));
        return only_if(std::move(tests), std::move(copy));
    };
    switch (tile.home) {
    case Home::Thread: return store(held_at(save.source, false), equal(thread_index(), 0));
    case Home::Shared: {
        const std::string& name = axis_names_[tile.column->index()].local;
        const kernel::Expression shared = matrix(save.source);
        Body each = define_parts(*tile.column);
        append(each, store(real_code(subscript(shared, variable(name))),
                           each.empty() ? kernel::Expression(true)
                                        : is_inside(*tile.column, plan_.extents.at(*tile.column))));
        return {kernel::shared_loop(name, expression_of(ranges_.at(*tile.column).count),
                                    std::move(each))};
    }
    case Home::Matrix: {
        const AxisId rows = axis_along(save.source, tile.row_dimension);
        const AxisId columns = axis_along(save.source, tile.column_dimension);
        const IndexForm row = local_index(rows);
        const IndexForm column = local_index(columns);
        for (std::size_t d = 0; d < array.axes.size(); ++d) {
            const AxisId along = schedule::tile_axis_of(plan_.tile_axes, array.axes[d]);
            if (along == rows || along == columns)
                at[d] = ranges_.at(array.axes[d]).start + local_index(array.axes[d]);
        }
        const kernel::Expression across = expression_of(ranges_.at(columns).count);
        Body each = {define("int", axis_names_[rows.index()].local, variable("e") / across),
                     define("int", axis_names_[columns.index()].local, variable("e") % across)};
        kernel::Expression tests = true;
        for (const AxisId axis : {rows, columns}) {
            if (tile_parts(axis).empty()) continue;
            append(each, define_parts(axis));
            tests = std::move(tests) && is_inside(axis, plan_.extents.at(axis));
        }
        const Code value = loaded(
            kernel::element(matrix(save.source), {expression_of(row), expression_of(column)}),
            tile.type);
        append(each, store(real_code(value.value), std::move(tests)));
        return {kernel::shared_loop(
            "e", expression_of(ranges_.at(rows).count * ranges_.at(columns).count),
            std::move(each))};
    }
    case Home::Row: return row_loop(store(held_at(save.source, false), row_leader() && row_test()));
    case Home::Fragment: {
        kernel::Expression tests = row_test() && column_test(*tile.column);
        if (plan_.has_products()) tests = has_columns(*tile.column) && std::move(tests);
        if (!plan_.row) tests = (thread_index() < plan_.lanes_per_row) && std::move(tests);
        return row_loop(
            column_loop(*tile.column, store(held_at(save.source, false), std::move(tests))));
    }
    default: throw InternalError("what is saved was computed");
    }
}

}  // namespace napkin::lowering
