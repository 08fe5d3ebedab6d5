#include "schedule/fit_copies.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagrams/memory_order.h"
#include "schedule/fit_gathers.h"
#include "schedule/straight_reads.h"

namespace napkin::schedule {
namespace {

constexpr std::int64_t kMostExtent = 256;  // of a box
constexpr std::size_t kMostDimensions = 5;
constexpr std::int64_t kUnitBytes = 16;  // that divide every stride
constexpr std::int64_t kLeastPanel = 32;
constexpr std::int64_t kMostPanelBits = 16;
constexpr std::int64_t kMostVectorBits = 32;

/// Sizes of the groups and chunks of an axis around a load, outermost first.
bool find_parts(const std::vector<TileStatement>& body, const Load& load, AxisId axis,
                std::vector<std::int64_t>& parts) {
    for (const TileStatement& statement : body) {
        const auto inside = [&](AxisId along, std::int64_t size,
                                const std::vector<TileStatement>& inner) {
            if (along == axis) parts.push_back(size);
            if (find_parts(inner, load, axis, parts)) return true;
            if (along == axis) parts.pop_back();
            return false;
        };
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node)) {
            if (inside(parallel->axis, parallel->size, parallel->body)) return true;
        } else if (const Loop* loop = std::get_if<Loop>(&statement.node)) {
            if (inside(loop->axis, loop->size, loop->body)) return true;
        } else if (std::get_if<Load>(&statement.node) == &load) {
            return true;
        }
    }
    return false;
}

/// Of an element of the map: two numbers of 4 bits are one.
std::int64_t bytes_of_unit(ElementType type) {
    return std::max<std::int64_t>(bits_of(type) / 8, 1);
}

bool is_depth(const Plan& plan, AxisId axis) {
    return std::any_of(plan.products.begin(), plan.products.end(),
                       [&](const auto& product) { return product.second.depth == axis; });
}

}  // namespace

std::vector<std::int64_t> sizes_around(const RegionProgram& region, const Load& load, AxisId axis) {
    std::vector<std::int64_t> sizes;
    static_cast<void>(find_parts(region.body, load, axis, sizes));
    return sizes;
}

std::int64_t panel_bytes(std::int64_t columns, ElementType type) {
    const std::int64_t bytes = columns * static_cast<std::int64_t>(bits_of(type)) / 8;
    for (const std::int64_t width : {128, 64})
        if (bytes % width == 0) return width;
    return 32;
}

std::variant<Box, std::string> box_of(const RegionProgram& region, const Plan& plan,
                                      const Limits& limits, const Load& load) {
    const Array& array = region.arrays[load.array.index()];
    const Tile& tile = plan.tiles.at(load.target);
    const Variable& variable = region.variables[load.target.index()];
    const std::size_t rank = array.axes.size();
    if (rank < 2 || rank > kMostDimensions)
        return fmt::format("`{}` has {} axes, bulk copies take 2 to 5", array.name, rank);
    if (!load.gather.empty() && !is_view(load))
        return fmt::format("`{}` is read at computed indices", array.name);
    const bool vector = tile.home == Home::Shared;
    const bool small = tile.type == ElementType::I8 || tile.type == ElementType::I4;
    if (vector ? !is_floating(tile.type) || bits_of(tile.type) > kMostVectorBits
               : !small && (!is_floating(tile.type) || bits_of(tile.type) > kMostPanelBits))
        return fmt::format("`{}` is {}, bulk copies bring numbers of 4, 8 and 16 bits", array.name,
                           name_of(tile.type));
    const auto bytes_of = [&](std::int64_t elements) { return elements * bits_of(tile.type) / 8; };
    if (!vector && bytes_of(tile.columns) % kLeastPanel != 0)
        return fmt::format("rows of {} bytes of `{}` are no multiple of {}", bytes_of(tile.columns),
                           array.name, kLeastPanel);
    const std::size_t last = innermost_dimension(array);
    const bool tiled = is_tiled(plan.tile_axes, load);
    const auto runs_along = [&](std::size_t dimension) {
        const AxisIndex* index = std::get_if<AxisIndex>(&load.index[dimension].front().node);
        return index != nullptr && index->axis == *tile.column;
    };
    if (!tiled && (vector ? !runs_along(last) : tile.column_dimension != last))
        return fmt::format("the columns of `{}` are not contiguous", array.name);
    const Axis& contiguous = region.axes[array.axes[last].index()];
    if (contiguous.dynamic || limits.dynamic_sizes || bytes_of(contiguous.extent) % kUnitBytes != 0)
        return fmt::format("rows of `{}` do not begin at multiples of 16 bytes", array.name);
    if (tiled) return gathered_box_of(region, plan, limits, load);
    Box box;
    for (std::size_t i = rank; i-- > 0;) {
        const std::size_t dimension = dimension_at(array, i);
        // Of a view, the axis that its index runs along, from some place of the array's own on.
        const auto* along = std::get_if<AxisIndex>(&load.index[dimension].front().node);
        if (along == nullptr)
            return fmt::format("`{}` is read at one place of `{}`", array.name,
                               region.axes[array.axes[dimension].index()].name);
        const AxisId axis = along->axis;
        const bool down = !vector && dimension == tile.row_dimension;
        const bool across = vector ? dimension == last : dimension == tile.column_dimension;
        const std::int64_t held = down      ? tile.rows
                                  : !across ? 1
                                  : vector  ? columns_of(plan, *tile.column).padded
                                            : tile.columns;
        const std::int64_t capacity = variable.capacity_extent[dimension];
        const bool whole = capacity >= region.axes[axis.index()].extent;
        if (held != capacity && !whole && !vector)
            return fmt::format("a block holds {} of `{}`, and its tile {}", capacity,
                               region.axes[axis.index()].name, held);
        const std::vector<std::int64_t> parts = sizes_around(region, load, axis);
        const bool of_view =
            is_view(load) && !std::holds_alternative<AxisIndex>(load.gather[dimension].node);
        if (of_view && !tile.zero_past_end &&
            clamped(load.gather[dimension], array.axes[dimension]))
            return fmt::format("`{}` repeats its last element past its end", array.name);
        // Past the end of a view there is more of the array; of rows and columns that are nobody's
        // that may be anything, but what is summed up must be zero.
        if (of_view && is_depth(plan, axis)) {
            const Axis& whole_axis = region.axes[axis.index()];
            const std::int64_t chunk = parts.empty() ? whole_axis.extent : parts.back();
            if (whole_axis.dynamic || limits.dynamic_sizes || whole_axis.extent % chunk != 0 ||
                held != chunk)
                return fmt::format("past the end of `{}` there is more of `{}`", whole_axis.name,
                                   array.name);
        }
        for (std::size_t p = 1; p < parts.size(); ++p)
            if (parts[p - 1] % parts[p] != 0)
                return fmt::format("chunks of {} do not divide {} of `{}`", parts[p], parts[p - 1],
                                   region.axes[axis.index()].name);
        const std::int64_t extent =
            across && !vector ? panel_bytes(tile.columns, tile.type) / bytes_of_unit(tile.type)
                              : held;
        if (extent > kMostExtent)
            return fmt::format("{} of `{}` are more than the {} of a box", extent,
                               region.axes[axis.index()].name, kMostExtent);
        box.dimensions.push_back(static_cast<std::uint32_t>(dimension));
        box.extents.push_back(extent);
    }
    return box;
}

}  // namespace napkin::schedule
