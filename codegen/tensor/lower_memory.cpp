// Copies between device memory and a block's tiles.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/tensor/tensor_lowering.h"
#include "schedule/statements.h"
#include "schedule/straight_reads.h"

namespace napkin::lowering {
namespace {

using kernel::Assign;
using kernel::Body;
using kernel::Call;
using kernel::Declare;
using kernel::For;
using kernel::If;
using tensor::Home;

}  // namespace

/// The copy of a load's part of its array into a matrix.
kernel::Body TensorLowering::copy_matrix(const Load& load, const std::string& tile) {
    Shared& shared = shared_.at(load.target);
    const tensor::Tile& plan = plan_.tiles.at(load.target);
    const std::size_t dimensions = load.index.size();
    shared.axes.clear();
    shared.origin.clear();
    shared.count.clear();
    for (std::size_t d = 0; d < dimensions; ++d) {
        const AxisId axis = std::get<AxisIndex>(load.index[d].front().node).axis;
        shared.axes.push_back(axis);
        shared.origin.push_back(ranges_.at(axis).start);
        shared.count.push_back(ranges_.at(axis).count);
    }
    const Source source = source_of(load);
    const IndexForm from = device_offset(load.array, source.origin);
    const int width = vector_elements(load.array, divisor_of(source.origin[plan.column_dimension]));
    const std::size_t down = plan.row_dimension;
    const std::size_t across = plan.column_dimension;
    const std::string what = fmt::format(
        "{}, {}, {}, {}, {}, {}", tile, buffer_name(load.array, false), print(from),
        device_stride(load.array, down), print(source.count[down]), print(source.count[across]));
    Body body;
    if (source.repeats())
        body.push_back(
            {Call{fmt::format("copy_repeating<{}>({}, {}, {}, threadIdx.x, kThreads)", width, what,
                              print(source.left[down].value_or(source.count[down])),
                              print(source.left[across].value_or(source.count[across])))}});
    else
        body.push_back(
            {Call{fmt::format("copy_async<{}>({}, threadIdx.x, kThreads)", width, what)}});
    return body;
}

bool TensorLowering::has_loops() const {
    bool found = false;
    tensor::for_statements(region_.body, [&](const TileStatement&, const Loop* loop) {
        found = found || loop != nullptr;
    });
    return found;
}

void TensorLowering::lower_load(const Load& load, Span span, Body& body) {
    const tensor::Tile& tile = plan_.tiles.at(load.target);
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
    bool first = true;
    for (std::string& line :
         comments(fmt::format("load {}", region_.arrays[load.array.index()].name), span, "")) {
        body.push_back({kernel::Comment{std::move(line), first}});
        first = false;
    }
    if (tile.home == Home::Fragment) return lower_fragment_load(load, span, body);
    for (kernel::Statement& part : copy_matrix(load, shared_.at(load.target).name))
        body.push_back(std::move(part));
    body.push_back({Call{"commit_copies()"}});
    copies_pending_ = true;
}

void TensorLowering::lower_fragment_load(const Load& load, Span, Body& body) {
    const tensor::Tile& tile = plan_.tiles.at(load.target);
    std::vector<IndexForm> origin;
    std::string row_count = std::to_string(plan_.rows_of_warp);
    std::string column_count = "1";
    std::string stride = "0";
    std::int64_t divisor = 0;
    const Array& array = region_.arrays[load.array.index()];
    const std::size_t last = array.layout.empty() ? array.axes.size() - 1 : array.layout.back();
    bool contiguous = false;
    const Source source = source_of(load);
    for (std::size_t d = 0; d < load.index.size(); ++d) {
        const AxisId axis = std::get<AxisIndex>(load.index[d].front().node).axis;
        IndexForm start = source.origin[d];
        if (axis == plan_.row) {
            const IndexForm warp = warp_index(axis);
            start = start + warp;
            row_count = print(source.count[d] - warp);
            stride = device_stride(load.array, d);
        }
        if (axis == tile.column) {
            column_count = print(source.count[d]);
            divisor = divisor_of(start);
            contiguous = d == last;
        }
        origin.push_back(start);
    }
    contiguous = contiguous && !source.repeats();
    if (contiguous) static_cast<void>(vector_elements(load.array, divisor));
    declare(load.target, body);
    if (!contiguous) return load_elements(load, body);
    body.push_back(
        {Call{fmt::format("load_rows({}, {}, {}, {}, {}, {}, 0.0f)", place(load.target),
                          buffer_name(load.array, false), print(device_offset(load.array, origin)),
                          stride, row_count, column_count)}});
}

/// Element by element, where neighbours along the columns are no neighbours in device memory.
void TensorLowering::load_elements(const Load& load, Body& body) {
    const tensor::Tile& tile = plan_.tiles.at(load.target);
    const ElementScope element = element_of({plan_.row.has_value(), tile.column});
    std::vector<IndexForm> at;
    for (const std::vector<Expression>& index : load.index)
        at.push_back(element.index.at(std::get<AxisIndex>(index.front().node).axis));
    if (tensor::is_view(load)) at = inside_view(load, element);
    Code value = as_sort(device_element(load.array, at), Sort::Real);
    std::string tests = row_test();
    const std::string column = column_test(*tile.column);
    if (!column.empty()) tests += (tests.empty() ? "" : " && ") + column;
    const std::string to = place(load.target) + "(i, j)";
    Body copy;
    constexpr std::size_t kLong = 50;
    if (value.text.size() > kLong && device_type(load.array) != ElementType::I4) {
        const std::string from = device_place(load.array, at, copy);
        value = as_sort(loaded(fmt::format("{}[{}]", buffer_name(load.array, false), from),
                               device_type(load.array)),
                        Sort::Real);
    }
    copy.push_back({Assign{
        to, "=", tests.empty() ? value.text : fmt::format("{} ? {} : 0.0f", tests, value.text)}});
    for (kernel::Statement& part :
         row_loop(column_loop(columns_of(*tile.column).type, *tile.column, std::move(copy))))
        body.push_back(std::move(part));
}

/// The value of an element in device memory.
Code TensorLowering::device_element(ArrayId array, const std::vector<IndexForm>& at) {
    const IndexForm offset = device_offset(array, at);
    const std::string place = print(offset);
    const std::string buffer = buffer_name(array, false);
    const ElementType type = device_type(array);
    if (type == ElementType::I4)
        return integer_code(fmt::format("signed_nibble({}[({}) / 2], {})", buffer, place, place),
                            range_of(type));
    Code code = loaded(fmt::format("{}[{}]", buffer, place), type);
    code.place = offset;
    return code;
}

void TensorLowering::lower_save(const Save& save, Span span, Body& body) {
    bool first = true;
    for (std::string& line :
         comments(fmt::format("save {}", region_.arrays[save.array.index()].name), span, "")) {
        body.push_back({kernel::Comment{std::move(line), first}});
        first = false;
    }
    const tensor::Tile& tile = plan_.tiles.at(save.source);
    const Array& array = region_.arrays[save.array.index()];
    const std::size_t last = array.axes.empty()     ? 0
                             : array.layout.empty() ? array.axes.size() - 1
                                                    : array.layout.back();
    if (tile.home == Home::Fragment && plan_.has_products() && tile.column &&
        array.axes[last] == *tile.column && bits_of(device_type(save.array)) >= 16) {
        const int width = vector_elements(save.array, divisor_of(ranges_.at(*tile.column).start));
        const std::optional<std::int64_t> staging =
            width > 1 ? place_staging(save, staging_bytes(save)) : std::nullopt;
        if (staging) {
            for (kernel::Statement& part : staged_save(save, width, *staging))
                body.push_back(std::move(part));
            return;
        }
    }
    if (tile.home == Home::Fragment && !plan_.has_products() && tile.column &&
        array.axes[last] == *tile.column &&
        vector_elements(save.array, divisor_of(ranges_.at(*tile.column).start)) % plan_.vector ==
            0) {
        body.push_back(row_save(save));
        return;
    }
    for (kernel::Statement& part : direct_save(save)) body.push_back(std::move(part));
}

/// Whole rows, in vectors.
kernel::Statement TensorLowering::row_save(const Save& save) {
    const Array& array = region_.arrays[save.array.index()];
    const tensor::Tile& tile = plan_.tiles.at(save.source);
    std::vector<IndexForm> origin;
    std::string stride = "0";
    std::string rows = "1";
    for (std::size_t d = 0; d < array.axes.size(); ++d) {
        const AxisId axis = array.axes[d];
        IndexForm start = ranges_.at(axis).start;
        if (axis == plan_.row) {
            const IndexForm warp = warp_index(axis);
            start = start + warp;
            rows = print(ranges_.at(axis).count - warp);
            stride = device_stride(save.array, d);
        }
        origin.push_back(start);
    }
    return {
        Call{fmt::format("save_rows({}, {}, {}, {}, {}, {})", place(save.source),
                         buffer_name(save.array, true), print(device_offset(save.array, origin)),
                         stride, rows, print(ranges_.at(*tile.column).count))}};
}

std::int64_t TensorLowering::staging_bytes(const Save& save) const {
    return plan_.rows_of_warp * plan_.warps_down *
           columns_of(*plan_.tiles.at(save.source).column).padded *
           kernel::element_bytes(device_type(save.array));
}

std::optional<std::int64_t> TensorLowering::place_staging(const Save& save, std::int64_t bytes) {
    constexpr std::int64_t kAlignment = 128;
    const std::int64_t start =
        final_saves_.contains(&save)
            ? 0
            : (program_.shared_bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (start + bytes > options_.shared_memory) return std::nullopt;
    program_.shared_bytes = std::max(program_.shared_bytes, start + bytes);
    return start;
}

/// Through shared memory.
kernel::Body TensorLowering::staged_save(const Save& save, int width, std::int64_t offset) {
    Body body;
    const tensor::Tile& tile = plan_.tiles.at(save.source);
    const ElementType type = device_type(save.array);
    const Columns columns = columns_of(*tile.column);
    const std::int64_t rows = plan_.rows_of_warp * plan_.warps_down;
    kernel::Tile entry;
    const Array& array = region_.arrays[save.array.index()];
    entry.name = names_.fresh(Names::identifier(array.name) + "_staging");
    entry.type = type;
    entry.matrix = kernel::Tile::Matrix{rows, columns.padded, 1};
    entry.shape = fmt::format("{} x {}{}", rows, columns.padded,
                              offset == 0 ? ", after everything else" : "");
    entry.elements = rows * columns.padded;
    entry.offset = offset;
    const std::string name = entry.name;
    program_.tiles.push_back(std::move(entry));

    if (offset == 0 && copies_pending_) {
        body.push_back({Call{"wait_copies<0>()"}});
        copies_pending_ = false;
    }
    const std::string warp_row = warp_part(*plan_.row);
    const std::string warp_column = columns.split ? warp_part(*tile.column) : "0";
    body.push_back({kernel::Barrier{}});
    body.push_back({Call{
        fmt::format("store({}, {}, {}, {})", place(save.source), name, warp_row, warp_column)}});
    body.push_back({kernel::Barrier{}});
    std::vector<IndexForm> origin;
    std::size_t row_dimension = 0;
    for (std::size_t d = 0; d < array.axes.size(); ++d) {
        origin.push_back(ranges_.at(array.axes[d]).start);
        if (array.axes[d] == *plan_.row) row_dimension = d;
    }
    constexpr std::size_t kLong = 70;
    std::string to = print(device_offset(save.array, origin));
    if (to.size() > kLong) to = device_place(save.array, origin, body);
    body.push_back({Call{fmt::format(
        "save_matrix<{}>({}, 0, {}, {}, {}, {}, {}, {}, threadIdx.x, kThreads)", width, name, rows,
        buffer_name(save.array, true), to, device_stride(save.array, row_dimension),
        print(ranges_.at(*plan_.row).count), print(ranges_.at(*tile.column).count))}});
    return body;
}

/// Element by element: for what no copy in vectors serves.
Body TensorLowering::direct_save(const Save& save) {
    const tensor::Tile& tile = plan_.tiles.at(save.source);
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
    const auto store = [&](const std::string& value, const std::string& tests) {
        Body copy;
        Code real;
        real.text = value;
        const std::string to = device_place(save.array, at, copy);
        copy.push_back({Assign{fmt::format("{}[{}]", buffer_name(save.array, true), to), "=",
                               stored(real, type)}});
        if (tests.empty()) return copy;
        return Body{{If{tests, std::move(copy), {}}}};
    };
    const auto both = [](const std::string& a, const std::string& b) {
        return a.empty() ? b : b.empty() ? a : a + " && " + b;
    };
    switch (tile.home) {
    case Home::Thread: return store(place(save.source), "threadIdx.x == 0");
    case Home::Shared: {
        For loop;
        loop.name = axis_names_[tile.column->index()].local;
        loop.begin = "threadIdx.x";
        loop.end = print(ranges_.at(*tile.column).count);
        loop.step = "kThreads";
        loop.body = store(fmt::format("{}[{}]", shared_.at(save.source).name, loop.name), "");
        return {{std::move(loop)}};
    }
    case Home::Matrix: {
        const AxisId rows = array.axes[tile.row_dimension];
        const AxisId columns = array.axes[tile.column_dimension];
        const IndexForm row = local_index(rows);
        const IndexForm column = local_index(columns);
        at[tile.row_dimension] = ranges_.at(rows).start + row;
        at[tile.column_dimension] = ranges_.at(columns).start + column;
        For loop;
        loop.name = "e";
        loop.begin = "threadIdx.x";
        loop.end = print(ranges_.at(rows).count * ranges_.at(columns).count);
        loop.step = "kThreads";
        const std::string across = print_factor(ranges_.at(columns).count);
        loop.body.push_back({Declare{"int", print(row), "e / " + across, true, {}}});
        loop.body.push_back({Declare{"int", print(column), "e % " + across, true, {}}});
        const Code value = loaded(
            fmt::format("{}({}, {})", shared_.at(save.source).name, print(row), print(column)),
            tile.type);
        for (kernel::Statement& part : store(value.text, "")) loop.body.push_back(std::move(part));
        return {{std::move(loop)}};
    }
    case Home::Row:
        return row_loop(store(place(save.source) + "[i]", both(row_leader(), row_test())));
    case Home::Fragment: {
        const Columns columns = columns_of(*tile.column);
        std::string tests = both(row_test(), column_test(*tile.column));
        if (!plan_.row) tests = both(fmt::format("threadIdx.x < {}", plan_.lanes_per_row), tests);
        return row_loop(
            column_loop(columns.type, *tile.column, store(place(save.source) + "(i, j)", tests)));
    }
    default: throw InternalError("what is saved was computed");
    }
}

}  // namespace napkin::lowering
