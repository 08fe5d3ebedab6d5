#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "diagrams/memory_order.h"

#include "codegen/simt/simt_lowering.h"

namespace napkin::lowering {
namespace {

/// Elements from one row to the next: padded so that rows start in different banks, an odd number
/// of 32-bit words apart.
std::int64_t padded_row(std::int64_t extent, ElementType type) {
    if (extent == 1) return 1;
    const std::int64_t bytes = kernel::element_bytes(type);
    if (bytes >= 4) return extent | 1;
    const std::int64_t words = (extent * bytes + 3) / 4;
    return (words | 1) * 4 / bytes;
}

}  // namespace

TileView& SimtLowering::define_tile(VariableId variable, const std::vector<AxisRange>& dims,
                                    const std::vector<std::string>& labels) {
    const VariableId place = storage(variable);
    const auto known = views_.find(place);
    TileView view;
    if (known != views_.end()) {
        view = known->second;
    } else {
        const Variable& info = region_.variables[place.index()];
        view.type = info.type;
        view.name = names_.fresh(info.name + "_tile");
        view.stride.resize(dims.size());
        std::int64_t next = 1;
        std::string shape;
        std::int64_t rows = 1;
        for (std::size_t d = 0; d + 1 < dims.size(); ++d) rows *= dims[d].capacity;
        for (std::size_t d = dims.size(); d-- > 0;) {
            view.stride[d] = next;
            next = d + 1 == dims.size() && rows > 1 ? padded_row(dims[d].capacity, view.type)
                                                    : next * dims[d].capacity;
        }
        for (std::size_t d = 0; d < dims.size(); ++d) {
            view.capacity.push_back(dims[d].capacity);
            shape += fmt::format("{}{}: {}", d > 0 ? ", " : "", labels[d], dims[d].capacity);
        }
        kernel::Tile tile;
        tile.name = view.name;
        tile.type = view.type;
        tile.elements = next;
        tile.shape = "(" + shape + ")";
        if (dims.size() > 1 && view.stride[dims.size() - 2] != dims.back().capacity)
            tile.shape += fmt::format(", rows of {}", view.stride[dims.size() - 2]);
        view.tile = kernel::TileId{static_cast<std::uint32_t>(program_.tiles.size())};
        program_.tiles.push_back(std::move(tile));
    }
    view.origin.clear();
    view.count.clear();
    for (std::size_t d = 0; d < dims.size(); ++d) {
        invariant(dims[d].capacity <= view.capacity[d], "a tile outgrew its memory");
        if (dims[d].limits) held_.insert(*dims[d].limits);
        view.origin.push_back(dims[d].start);
        view.count.push_back(dims[d].count);
    }
    latest_[region_.variables[variable.index()].array] = place;
    return views_[place] = std::move(view);
}

TileView& SimtLowering::define_target(VariableId variable) {
    std::vector<AxisRange> dims;
    std::vector<std::string> labels;
    for (const AxisId axis :
         region_.arrays[region_.variables[variable.index()].array.index()].axes) {
        dims.push_back(ranges_[axis]);
        labels.push_back(region_.axes[axis.index()].name);
    }
    return define_tile(variable, dims, labels);
}

void SimtLowering::lower_load(const Load& load, Span span, Body& body) {
    if (!materialised(load.target)) {
        skipped_loads_[load.target] = &load;
        return;
    }
    if (load.source && materialised(*load.source)) {
        // The outer tile already stands in shared memory: both are one.
        aliases_[load.target] = storage(*load.source);
        latest_[region_.variables[load.target.index()].array] = storage(*load.source);
        return;
    }
    const Load* origin = &load;
    while (origin->source && skipped_loads_.contains(*origin->source))
        origin = skipped_loads_[*origin->source];
    if (!origin->gather.empty()) return lower_gather(load, origin->gather, span, body);

    const std::vector<AxisRange> dims = footprint(load, body);
    const Array& array = region_.arrays[load.array.index()];
    std::vector<std::string> labels;
    for (const AxisId axis : array.axes) labels.push_back(region_.axes[axis.index()].name);
    const TileView view = define_tile(load.target, dims, labels);
    const std::string buffer = buffer_name(load.array, false);

    kernel::Phase phase;
    phase.comments = comments(fmt::format("load {}", array.name), span, "");
    Body inner;
    std::int64_t elements = 1;
    for (const AxisRange& dim : dims) elements *= dim.capacity;
    std::vector<IndexForm> local(dims.size());
    const int width = vector_width(load.array, view);
    std::int64_t below = elements / width;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        const bool last = d + 1 == dims.size();
        const std::int64_t steps = last ? dims[d].capacity / width : dims[d].capacity;
        if (steps == 1) continue;
        below /= steps;
        kernel::Expression value = kernel::variable("e");
        if (below > 1) value = std::move(value) / below;
        if (below * steps < elements / width) value = std::move(value) % steps;
        if (last && width > 1) value = std::move(value) * width;
        const auto same = std::count(array.axes.begin(), array.axes.end(), array.axes[d]);
        const std::string& own = axis_names_[array.axes[d].index()].local;
        const std::string name = same == 1 ? own : names_.fresh(own);
        inner.push_back(kernel::define("int", name, std::move(value)));
        local[d] = counted(name, dims[d].capacity - 1);
    }
    std::vector<IndexForm> at(dims.size());
    IndexForm place;
    kernel::Expression tests = true;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        at[d] = dims[d].start + local[d];
        place = place + local[d] * view.stride[d];
        if (!dims[d].exact())
            tests = std::move(tests) && (expression_of(local[d]) < expression_of(dims[d].count));
    }
    Body copy;
    const kernel::Expression from = device_place(load.array, at, copy);
    const kernel::Expression tile = kernel::variable(view.name);
    if (width > 1)
        copy.push_back({kernel::Run{
            kernel::call({"copy_vector", {width}},
                         {tile, expression_of(place), kernel::variable(buffer), from})}});
    else
        copy.push_back(kernel::assign(subscript(tile, expression_of(place)),
                                      device_value(load.array, from, view.type)));
    append(inner, kernel::only_if(std::move(tests), std::move(copy)));
    phase.body = thread_loop(elements / width, std::move(inner));
    body.push_back({std::move(phase)});
}

void SimtLowering::lower_gather(const Load& load, const std::vector<Expression>& gather, Span span,
                                Body& body) {
    const TileView view = define_target(load.target);
    const std::string buffer = buffer_name(load.array, false);
    kernel::Phase phase;
    phase.comments =
        comments(fmt::format("gather {}", region_.arrays[load.array.index()].name), span, "");
    ExpressionScope scope;
    scope.sizes = &sizes_;
    scope.arrays = &region_.arrays;
    for (const Expression& expression : gather) {
        note_parameters(expression, scope);
        for (const ArrayId array : arrays_read(expression)) {
            if (scope.parameters.contains(array)) continue;
            scope.tiles[array] = views_.at(storage(latest_.at(array)));
        }
    }
    const std::vector<AxisId>& axes =
        region_.arrays[region_.variables[load.target.index()].array.index()].axes;
    Body inner;
    const std::vector<LocalIndex> locals = decompose("e", axes, inner);
    const ElementScope element = element_at(locals);
    const ExpressionPrinter printer(scope);
    std::vector<IndexForm> at;
    for (const Expression& expression : gather) at.push_back(printer.index(expression, element));
    std::vector<IndexForm> target;
    for (const AxisId axis : axes) target.push_back(element.index.at(axis));
    Body copy;
    const kernel::Expression from = device_place(load.array, at, copy);
    copy.push_back(kernel::assign(ExpressionPrinter::place(view, target),
                                  device_value(load.array, from, view.type)));
    append(inner, kernel::only_if(tests_of(locals), std::move(copy)));
    phase.body = thread_loop(elements_of(axes), std::move(inner));
    body.push_back({std::move(phase)});
}

void SimtLowering::lower_save(const Save& save, Span span, Body& body) {
    if (!materialised(save.source)) return;
    if (save.target && materialised(*save.target)) {
        if (storage(save.source) != storage(*save.target))
            copy_tile(save.source, *save.target, save.array, span, body);
        return;
    }
    const TileView& view = views_.at(storage(save.source));
    const std::string buffer = buffer_name(save.array, true);
    const Array& array = region_.arrays[save.array.index()];
    kernel::Phase phase;
    phase.comments = comments(fmt::format("save {}", array.name), span, "");
    Body inner;
    const std::vector<LocalIndex> locals = decompose("e", array.axes, inner);
    const ElementScope element = element_at(locals);
    const std::vector<IndexForm> at = indices_of(save.array, element);
    const ElementType type = device_type(save.array);
    kernel::Expression value = ExpressionPrinter::place(view, at);
    if (type != view.type) value = stored(loaded(value, view.type), type);
    Body copy;
    const kernel::Expression to = device_place(save.array, at, copy);
    copy.push_back(kernel::assign(subscript(kernel::variable(buffer), to), std::move(value)));
    append(inner, kernel::only_if(tests_of(locals), std::move(copy)));
    phase.body = thread_loop(elements_of(array.axes), std::move(inner));
    body.push_back({std::move(phase)});
}

void SimtLowering::copy_tile(VariableId from, VariableId to, ArrayId array, Span span, Body& body) {
    const TileView source = views_.at(storage(from));
    const TileView target = collected_.contains(to) ? views_.at(storage(to)) : define_target(to);
    kernel::Phase phase;
    phase.comments = comments(fmt::format("copy {}", region_.arrays[array.index()].name), span, "");
    Body inner;
    const std::vector<AxisId>& axes = region_.arrays[array.index()].axes;
    const std::vector<LocalIndex> locals = decompose("e", axes, inner);
    const std::vector<IndexForm> at = indices_of(array, element_at(locals));
    const kernel::Statement copy = kernel::assign(
        ExpressionPrinter::place(target, at),
        stored(loaded(ExpressionPrinter::place(source, at), source.type), target.type));
    append(inner, kernel::only_if(tests_of(locals), {copy}));
    phase.body = thread_loop(elements_of(axes), std::move(inner));
    body.push_back({std::move(phase)});
}

/// Elements that one copy of 16 bytes moves, where the tile's innermost dimension allows it.
int SimtLowering::vector_width(ArrayId array, const TileView& tile) const {
    const Array& info = region_.arrays[array.index()];
    const ElementType type = device_type(array);
    if (info.axes.empty() || type != tile.type || type == ElementType::I4) return 1;
    const std::size_t last = info.axes.size() - 1;
    if (innermost_dimension(info) != last) return 1;
    const AxisId axis = info.axes[last];
    const std::int64_t width = 16 / kernel::element_bytes(type);
    const std::int64_t extent = region_.axes[axis.index()].extent;
    if (run_time_[axis.index()] || extent % width != 0) return 1;
    if (divisor_of(tile.count[last]) % width != 0) return 1;
    if (tile.capacity[last] % width != 0 || divisor_of(tile.origin[last]) % width != 0) return 1;
    return static_cast<int>(width);
}

}  // namespace napkin::lowering
