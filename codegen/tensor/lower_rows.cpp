// Copies between device memory and the rows that threads hold, where no product is.
#include <algorithm>

#include "codegen/expression_text.h"
#include "codegen/tensor/tensor_lowering.h"
#include "diagrams/memory_order.h"
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

/// The copy of a row's part along a tile axis between registers and device memory.
kernel::Statement TensorLowering::move_row_pieces(const char* function, ArrayId array, bool writes,
                                                  VariableId variable,
                                                  const std::vector<Expression>& index) {
    const AxisId column = *plan_.tiles.at(variable).column;
    Gathered gathered{array, plan_.row, column, 0, padded_extent(column), std::nullopt};
    if (plan_.row) gathered.padded_rows = padded_extent(*plan_.row);
    auto [width, piece] = piece_of(gathered, index);
    const int at_once = static_cast<int>(std::min<std::int64_t>(width, plan_.vector));
    return {
        Run{call({function, {at_once}},
                 {place(variable), kernel::variable(buffer_name(array, writes)),
                  plan_.row ? warp_part(*plan_.row) : kernel::Expression(0), std::move(piece)})}};
}

/// Whether vectors of rows, which begin where the block's part of them does, are at multiples of
/// their size: 16 bytes, or what a thread has side by side.
bool TensorLowering::in_vectors(ArrayId id, const IndexForm& first_column) {
    constexpr std::int64_t kBits = 128;
    const std::int64_t part = std::min<std::int64_t>(
        plan_.vector, kBits / static_cast<std::int64_t>(bits_of(device_type(id))));
    return vector_elements(id, divisor_of(first_column)) % part == 0;
}

void TensorLowering::lower_fragment_load(const Load& load, Span, Body& body) {
    const schedule::Tile& tile = plan_.tiles.at(load.target);
    if (plan_.skewed) return load_skewed(load, body);
    declare(load.target, body);
    if (schedule::is_tiled(plan_.tile_axes, load)) {
        if (device_type(load.array) == ElementType::I4) return load_elements(load, body);
        body.push_back(
            move_row_pieces("load_row_pieces", load.array, false, load.target, load.gather));
        return;
    }
    std::vector<IndexForm> origin;
    kernel::Expression row_count = plan_.rows_of_warp;
    kernel::Expression column_count = 1;
    kernel::Expression stride = 0;
    IndexForm first_column = 0;
    const Array& array = region_.arrays[load.array.index()];
    const std::size_t last = innermost_dimension(array);
    bool contiguous = false;
    const Source source = source_of(load);
    for (std::size_t d = 0; d < load.index.size(); ++d) {
        const AxisId axis = std::get<AxisIndex>(load.index[d].front().node).axis;
        IndexForm start = source.origin[d];
        if (axis == plan_.row) {
            const IndexForm warp = warp_index(axis);
            start = start + warp;
            row_count = expression_of(source.count[d] - warp);
            stride = device_stride(load.array, d);
        }
        if (axis == tile.column) {
            column_count = expression_of(source.count[d]);
            first_column = start;
            contiguous = d == last;
        }
        if (schedule::is_view(load) && axis != plan_.row && axis != tile.column)
            start = kept_inside(start, array.axes[d]);
        origin.push_back(start);
    }
    // Two of 4 bits share a byte, at which no row need begin.
    if (!contiguous || source.repeats() || device_type(load.array) == ElementType::I4 ||
        !in_vectors(load.array, first_column))
        return load_elements(load, body);
    body.push_back(
        {Run{call("load_rows", {place(load.target), variable(buffer_name(load.array, false)),
                                expression_of(device_offset(load.array, origin)), stride, row_count,
                                column_count})}});
}

/// A row whose first element is one of a vector's, at the same place in all arrays.
void TensorLowering::load_skewed(const Load& load, Body& body) {
    const Source source = source_of(load);
    kernel::Expression column_count = 1;
    for (std::size_t d = 0; d < load.index.size(); ++d)
        if (std::get<AxisIndex>(load.index[d].front().node).axis == plan_.skewed)
            column_count = expression_of(source.count[d]);
    const IndexForm offset = device_offset(load.array, source.origin);
    if (skew_.empty()) {
        skew_ = names_.fresh("skew");
        body.push_back(define("int", skew_,
                              call({"place_in_vector", {plan_.vector}}, {expression_of(offset)})));
    }
    declare(load.target, body);
    align_address(load.array);
    body.push_back({Run{
        call("load_rows", {place(load.target), variable(buffer_name(load.array, false)),
                           expression_of(offset), variable(skew_), std::move(column_count)})}});
}

/// Element by element, where neighbours along the columns are no neighbours in device memory.
void TensorLowering::load_elements(const Load& load, Body& body) {
    const schedule::Tile& tile = plan_.tiles.at(load.target);
    const ElementScope element = element_of({plan_.row.has_value(), tile.column});
    std::vector<IndexForm> at;
    for (const std::vector<Expression>& index : load.index)
        at.push_back(element.index.at(std::get<AxisIndex>(index.front().node).axis));
    if (schedule::is_view(load)) at = inside_view(load, element);
    Code value = as_sort(device_element(load.array, at), Sort::Real);
    Body copy;
    constexpr std::size_t kLong = 50;
    if (width_of(value.value) > kLong && device_type(load.array) != ElementType::I4) {
        const kernel::Expression from = device_place(load.array, at, copy);
        value = as_sort(loaded(subscript(variable(buffer_name(load.array, false)), from),
                               device_type(load.array)),
                        Sort::Real);
    }
    copy.push_back(assign(element_at(load.target), choose(row_test() && column_test(*tile.column),
                                                          value.value, kernel::real(0))));
    append(body, row_loop(column_loop(*tile.column, std::move(copy))));
}

/// Where rows are saved in vectors: the first element, the stride of rows, how many rows and
/// columns there are; none where their elements are saved alone.
std::optional<std::vector<kernel::Expression>> TensorLowering::row_places(const Save& save) {
    const Array& array = region_.arrays[save.array.index()];
    const schedule::Tile& tile = plan_.tiles.at(save.source);
    const std::size_t last = innermost_dimension(array);
    const bool skewed = plan_.skewed == tile.column;
    if (array.axes[last] != *tile.column ||
        (!skewed && !in_vectors(save.array, ranges_.at(*tile.column).start)))
        return std::nullopt;
    std::vector<IndexForm> origin;
    kernel::Expression stride = 0;
    kernel::Expression rows = 1;
    for (std::size_t d = 0; d < array.axes.size(); ++d) {
        const AxisId axis = array.axes[d];
        IndexForm start = ranges_.at(axis).start;
        if (axis == plan_.row) {
            const IndexForm warp = warp_index(axis);
            start = start + warp;
            rows = expression_of(ranges_.at(axis).count - warp);
            stride = device_stride(save.array, d);
        }
        origin.push_back(start);
    }
    return std::vector{expression_of(device_offset(save.array, origin)), stride, rows,
                       expression_of(ranges_.at(*tile.column).count)};
}

/// The save of rows that device memory gets as they are computed.
const Save* TensorLowering::saved_at_once(VariableId variable) const {
    if (plan_.bytes_in_shared == 0 || loads_.contains(variable)) return nullptr;
    for (const TileStatement* leaf : leaves_)
        if (const Save* save = std::get_if<Save>(&leaf->node);
            save != nullptr && save->source == variable)
            return save;
    return nullptr;
}

/// Rows of which every thread has its own in shared memory, or that are saved as they are computed;
/// false where it is neither.
bool TensorLowering::declare_own_rows(VariableId id, Body& body) {
    const schedule::Tile& tile = plan_.tiles.at(id);
    kernel::Type rows = columns_of(*tile.column).type;
    rows.arguments.insert(rows.arguments.begin(), kernel::Type(kernel::element_name(tile.type)));
    std::vector<kernel::Expression> made_of;
    if (loads_.contains(id)) {
        rows.name = "SharedRows";
        rows.arguments.push_back(plan_.threads());
        made_of = {variable(buffer_names_.at(schedule_.buffer_of.at(id)))};
    } else {
        const Save* save = saved_at_once(id);
        if (save == nullptr) return false;
        std::optional<std::vector<kernel::Expression>> places = row_places(*save);
        if (!places) return false;
        rows.name = "SavedRows";
        made_of = *std::move(places);
        if (plan_.skewed) {
            rows.name = "SkewedRows";
            made_of = {made_of.front(), variable(skew_), made_of.back()};
            align_address(save->array);
        }
        made_of.insert(made_of.begin(), variable(buffer_name(save->array, true)));
        at_once_.insert(id);
    }
    body.push_back(kernel::declare(
        rows, names_of_.at(id), kernel::Expression(kernel::Braces{std::move(made_of)}),
        fmt::format("{} of this warp", region_.axes[tile.column->index()].name)));
    return true;
}

/// Rows of registers, where no product is.
void TensorLowering::save_rows(const Save& save, Body& body) {
    const schedule::Tile& tile = plan_.tiles.at(save.source);
    const auto is_tile = [&](std::optional<AxisId> axis) {
        return axis && !tile_parts(*axis).empty();
    };
    std::optional<kernel::Statement> saved;
    if (is_tile(tile.column) || is_tile(plan_.row)) {
        std::vector<Expression> index;
        for (const AxisId axis : region_.arrays[save.array.index()].axes)
            index.push_back(axis_index(axis));
        saved = move_row_pieces("save_row_pieces", save.array, true, save.source, index);
    } else if (tile.column) {
        if (at_once_.contains(save.source)) return;
        if (std::optional<std::vector<kernel::Expression>> places = row_places(save)) {
            places->insert(places->begin(),
                           {place(save.source), variable(buffer_name(save.array, true))});
            saved = kernel::Statement{Run{call("save_rows", *std::move(places))}};
        }
    }
    if (!saved) return append(body, direct_save(save));
    // Without rows all warps but the first hold the same again.
    const bool all = plan_.row || plan_.warps_down == 1;
    append(body, only_if(all ? kernel::Expression(true) : thread_index() < plan_.lanes_per_row,
                         {*std::move(saved)}));
}

}  // namespace napkin::lowering
