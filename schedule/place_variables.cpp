// Where the tiles of arrays live.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "diagrams/memory_order.h"
#include "schedule/fit_copies.h"
#include "schedule/planner.h"
#include "schedule/statements.h"
#include "schedule/straight_reads.h"

namespace napkin::schedule {
namespace {

/// Whether neighbours along a dimension are neighbours in device memory.
bool contiguous(const Array& array, std::size_t dimension) {
    return dimension == innermost_dimension(array);
}

/// What divides the places from which a view reads, as far as its numbers tell.
std::int64_t divisor_of_view(const Expression& index) {
    std::int64_t divisor = 0;
    walk(index, [&](const Expression& part) {
        if (const Number* number = std::get_if<Number>(&part.node))
            divisor = std::gcd(divisor, static_cast<std::int64_t>(number->value));
    });
    return std::max<std::int64_t>(divisor, 1);
}

}  // namespace

void Planner::place_computed(VariableId variable) {
    const Variable& info = region_.variables[variable.index()];
    const std::vector<AxisId> axes = wide_axes(info.array);
    Tile tile;
    tile.type = ElementType::F32;
    std::vector<AxisId> others;
    for (const AxisId axis : axes)
        if (axis != plan_.row) others.push_back(axis);
    const bool has_row = others.size() < axes.size();
    const bool one_row = !plan_.row && products_.empty();
    if (one_row && others.size() == 2)
        return refuse(fmt::format("`{}` runs along {}, and the region folds both",
                                  region_.arrays[info.array.index()].name, names(axes)),
                      "compute the folds in regions of their own", narrowing(axes, 1));
    if (others.size() > 2 || (has_row && others.size() > 1))
        return refuse(fmt::format("`{}` has {} in one block, which holds arrays of two axes",
                                  region_.arrays[info.array.index()].name, names(axes)),
                      "group or stream all of them but two by 1", narrowing(axes, 1));
    if (!others.empty()) tile.column = others.front();
    if (has_row || one_row) {
        tile.home = others.empty() ? Home::Row : Home::Fragment;
    } else if (others.size() == 2) {
        shape_matrix(variable, tile);
    } else {
        tile.home = others.empty() ? Home::Thread : Home::Shared;
    }
    const Array& array = array_of(variable);
    if (!is_floating(array.type)) {
        // What a selection finds is an integer, and so is what is made of it.
        const bool once = tile.home == Home::Row || tile.home == Home::Thread;
        if (!plan_.selects || !once) return refuse_type(array);
        tile.type = array.type;
    }
    plan_.tiles[variable] = tile;
}

/// Rows and columns of a matrix: its two wide dimensions, the faster one is the columns.
void Planner::shape_matrix(VariableId variable, Tile& tile) {
    const Variable& info = region_.variables[variable.index()];
    const Array& array = region_.arrays[info.array.index()];
    std::vector<std::size_t> order(array.layout.begin(), array.layout.end());
    if (order.empty())
        for (std::size_t d = 0; d < array.axes.size(); ++d) order.push_back(d);
    std::vector<std::size_t> dims;
    for (const std::size_t d : order)
        if (info.capacity_extent[d] > 1) dims.push_back(d);
    if (dims.size() != 2)
        return refuse(
            fmt::format("`{}` has not two axes of more than one index in a block", array.name));
    tile.home = Home::Matrix;
    tile.row_dimension = dims[0];
    tile.column_dimension = dims[1];
    // A view holds as many indices as a product goes along, also where its array is shorter.
    const auto load = loads_.find(variable);
    const bool view = load != loads_.end() && is_view(*load->second.load);
    const auto extent = [&](std::size_t d) {
        const std::int64_t own = info.capacity_extent[d];
        return padded(view ? std::max(own, plan_.extents.at(array.axes[d])) : own, kTile);
    };
    tile.rows = extent(dims[0]);
    tile.columns = extent(dims[1]);
}

/// Axes along the dimensions of a load, where every reader agrees on one. What a view reads past
/// the end of its array is tested where it is copied; a plain index is not, so its axis must be as
/// long.
std::vector<std::optional<AxisId>> Planner::axes_of_load(const Load& load) const {
    if (is_tiled(plan_.tile_axes, load)) {
        std::vector<std::optional<AxisId>> own;
        for (const auto& index : load.index)
            own.emplace_back(std::get<AxisIndex>(index.front().node).axis);
        return own;
    }
    const std::vector<AxisId>& dimensions = region_.arrays[load.array.index()].axes;
    const auto tested = [&](std::size_t d) {
        return is_view(load) && !std::holds_alternative<AxisIndex>(load.gather[d].node);
    };
    const auto as_long = [&](AxisId axis, std::size_t d) {
        return region_.axes[axis.index()].size == region_.axes[dimensions[d].index()].size;
    };
    std::vector<std::optional<AxisId>> axes(load.index.size());
    for (std::size_t d = 0; d < load.index.size(); ++d) {
        const AxisIndex* first = nullptr;
        bool agree = !load.index[d].empty();
        for (const Expression& index : load.index[d]) {
            const AxisIndex* axis = std::get_if<AxisIndex>(&index.node);
            agree = agree && axis != nullptr && (first == nullptr || first->axis == axis->axis) &&
                    (load.source || tested(d) || as_long(axis->axis, d));
            first = axis;
        }
        if (agree && first != nullptr) axes[d] = first->axis;
    }
    return axes;
}

bool Planner::read_by_product(VariableId variable) const {
    const ArrayId array = region_.variables[variable.index()].array;
    for (const auto& [leaf, product] : plan_.products) {
        const Compute* compute = computes_.at(leaf);
        if (std::find(compute->reads.begin(), compute->reads.end(), variable) ==
            compute->reads.end())
            continue;
        for (const Operand* side : {&product.left, &product.right})
            if (arrays_read(side->value).contains(array)) return true;
    }
    return false;
}

/// Whether the variable must be read as it is: integers of which an f32 has not all, and indices,
/// which stand in expressions of their own.
bool Planner::read_exactly(VariableId variable) const {
    const Variable& info = region_.variables[variable.index()];
    if (info.type == ElementType::I32 || info.type == ElementType::I64) return true;
    return std::any_of(loads_.begin(), loads_.end(), [&](const auto& entry) {
        const std::vector<Expression>& gather = entry.second.load->gather;
        return std::any_of(gather.begin(), gather.end(), [&](const Expression& index) {
            return arrays_read(index).contains(info.array);
        });
    });
}

/// Whether something in shared memory is computed from the variable.
bool Planner::read_by_block(VariableId variable) const {
    return std::any_of(computes_.begin(), computes_.end(), [&](const auto& each) {
        const Compute* compute = each.second;
        const Home home = plan_.tiles.at(compute->targets.front()).home;
        return (home == Home::Shared || home == Home::Matrix) &&
               std::find(compute->reads.begin(), compute->reads.end(), variable) !=
                   compute->reads.end();
    });
}

/// Whether a load along rows of several axes brings some of their elements again and again: what is
/// along one part alone. Registers hold it once where it is read from a cache.
bool Planner::repeats_rows(const Load& load) const {
    const TileAxis* rows = plan_.row ? find_tile_axis(plan_.tile_axes, *plan_.row) : nullptr;
    if (rows == nullptr) return false;
    std::set<AxisId> used;
    for (const Expression& index : load.gather)
        for (const AxisId axis : axes_used(index)) used.insert(axis);
    return std::any_of(rows->parts.begin(), rows->parts.end(),
                       [&](const TilePart& part) { return !used.contains(part.axis); });
}

/// Where neighbours in device memory, vectors of them, lie along the rows of threads, which hold
/// vectors of columns: the matrix in shared memory that turns them, if two of all such matrices
/// fit. What is folded stays in registers, which a fold reads more than once.
std::optional<Tile> Planner::turned_tile(VariableId variable, Tile tile,
                                         const std::vector<std::optional<AxisId>>& axes) {
    const auto& [load, loop] = loads_.at(variable);
    constexpr std::int64_t kVectorBits = 128;
    constexpr std::int64_t kBankBits = 1024;
    const auto bits = static_cast<std::int64_t>(bits_of(tile.type));
    const bool folds = std::any_of(computes_.begin(), computes_.end(), [](const auto& each) {
        return !folded_axes(each.second->statement).empty();
    });
    if (folds || !load->gather.empty() || is_tiled(plan_.tile_axes, *load) || bits < 8 ||
        axes[innermost_dimension(region_.arrays[load->array.index()])] != plan_.row ||
        plan_.extents.at(*plan_.row) * bits < kVectorBits)
        return std::nullopt;
    shape_matrix(variable, tile);
    tile.streamed = loop != nullptr;
    tile.turned = true;
    // Rows that do not fill all banks would share some.
    tile.columns = padded(tile.columns, kBankBits / bits);
    std::int64_t all = tile.rows * tile.columns * bits;
    for (const auto& [other, placed] : plan_.tiles)
        if (placed.turned)
            all += placed.rows * placed.columns * static_cast<std::int64_t>(bits_of(placed.type));
    if (2 * all / 8 > limits_.shared_memory) return std::nullopt;
    return tile;
}

void Planner::place_loaded(VariableId variable) {
    const auto [load, loop] = loads_.at(variable);
    const Variable& info = region_.variables[variable.index()];
    Tile tile;
    tile.type = info.type;
    tile.home = Home::Device;
    const std::vector<std::optional<AxisId>> axes = axes_of_load(*load);
    std::size_t wide_dimensions = 0;
    bool plain = load->gather.empty() || is_view(*load);
    const bool in_registers =
        plan_.products.empty() && !read_exactly(variable) && !read_serially(variable);
    for (std::size_t d = 0; d < axes.size(); ++d) {
        if (info.capacity_extent[d] > 1) ++wide_dimensions;
        plain = plain && axes[d];
    }
    // A diagonal is no tile of two axes: its elements are read where they stand.
    for (std::size_t d = 0; d < axes.size(); ++d)
        for (std::size_t e = 0; e < d; ++e)
            if (info.capacity_extent[d] > 1 && info.capacity_extent[e] > 1 && axes[d] == axes[e])
                plain = false;
    const bool operand = read_by_product(variable);
    if (wide_dimensions == 2 && plain) {
        const bool is_row = std::any_of(axes.begin(), axes.end(),
                                        [&](const auto& axis) { return axis == plan_.row; });
        if (operand || (loop != nullptr && !plan_.products.empty())) {
            Tile matrix = tile;
            shape_matrix(variable, matrix);
            matrix.streamed = loop != nullptr;
            // Copies of threads are of neighbours, and of whole bytes.
            if (contiguous(array_of(variable), matrix.column_dimension) &&
                (tile.type != ElementType::I4 || comes_in_bulk(variable, matrix)))
                tile = matrix;
        } else if (const std::optional<Tile> turned =
                       in_registers && is_row ? turned_tile(variable, tile, axes) : std::nullopt) {
            tile = *turned;
        } else if (in_registers && is_row && !repeats_rows(*load)) {
            tile.home = Home::Fragment;
            for (std::size_t d = 0; d < axes.size(); ++d)
                if (info.capacity_extent[d] > 1 && axes[d] != plan_.row) tile.column = axes[d];
            tile.type = ElementType::F32;
        }
    } else if (wide_dimensions == 1 && plain && in_registers) {
        std::optional<AxisId> along;
        for (std::size_t d = 0; d < axes.size(); ++d)
            if (info.capacity_extent[d] > 1) along = axes[d];
        const bool part = along && tile_axis_of(plan_.tile_axes, *along) != *along;
        if (along != plan_.row && !part && !read_by_block(variable)) {
            tile.home = Home::Fragment;
            tile.column = along;
            tile.type = ElementType::F32;
        }
    }
    plan_.tiles[variable] = tile;
}

/// What the columns of fragments read chunk by chunk comes with the chunk, where bulk copies bring
/// it: every thread would ask device memory for it when it needs it.
void Planner::place_vectors() {
    if (!limits_.warp_groups) return;
    for (const auto& [variable, place] : loads_) {
        Tile& tile = plan_.tiles.at(variable);
        if (tile.home != Home::Device || place.loop == nullptr || read_exactly(variable) ||
            read_by_product(variable) || read_by_block(variable) || read_serially(variable) ||
            is_tiled(plan_.tile_axes, *place.load))
            continue;
        const std::vector<std::optional<AxisId>> axes = axes_of_load(*place.load);
        const Variable& info = region_.variables[variable.index()];
        std::vector<std::optional<AxisId>> along;
        for (std::size_t d = 0; d < axes.size(); ++d)
            if (info.capacity_extent[d] > 1) along.push_back(axes[d]);
        if (along.size() != 1 || along.front() != place.loop->axis || along.front() == plan_.row)
            continue;
        Tile near = tile;
        near.home = Home::Shared;
        near.column = along.front();
        near.streamed = true;
        if (comes_in_bulk(variable, near)) tile = near;
    }
}

/// Whether bulk copies would bring a loaded tile.
bool Planner::comes_in_bulk(VariableId variable, const Tile& tile) const {
    if (!limits_.warp_groups) return false;
    Plan trial = plan_;
    trial.tiles[variable] = tile;
    return std::holds_alternative<Box>(box_of(region_, trial, limits_, *loads_.at(variable).load));
}

/// The widest vectors that every row in device memory and every group of columns is made of, of 16
/// bytes where the narrowest numbers are moved.
void Planner::choose_vector() {
    const auto divides = [&](std::int64_t extent) {
        while (extent % plan_.vector != 0) plan_.vector /= 2;
    };
    constexpr std::int64_t kVectorBits = 128;
    std::int64_t narrowest = kVectorBits;
    const auto fit = [&](const Array& array, ElementType type, AxisId column) {
        narrowest = std::min(narrowest, static_cast<std::int64_t>(bits_of(type)));
        const std::size_t last = innermost_dimension(array);
        const Axis& inner = region_.axes[array.axes[last].index()];
        const TileAxis* tile = find_tile_axis(plan_.tile_axes, column);
        // What is no neighbour in memory is moved alone.
        if (tile != nullptr && tile->parts.back().axis != array.axes[last]) return;
        const bool run_time = inner.dynamic || limits_.dynamic_sizes;
        divides(run_time && array.axes.size() > 1 ? 1 : inner.extent);
        if (tile != nullptr)
            divides(tile->parts.back().extent);
        else if (plan_.extents.at(column) < region_.axes[column.index()].extent)
            divides(plan_.extents.at(column));
    };
    for_statements(region_.body, [&](const TileStatement& statement, const Loop*) {
        if (const Load* load = std::get_if<Load>(&statement.node)) {
            const Tile& tile = plan_.tiles.at(load->target);
            if (tile.home != Home::Fragment) return;
            const Array& array = region_.arrays[load->array.index()];
            fit(array, region_.variables[load->target.index()].type, *tile.column);
            const std::size_t last = innermost_dimension(array);
            if (is_view(*load) && !std::holds_alternative<AxisIndex>(load->gather[last].node))
                divides(divisor_of_view(load->gather[last]));
        }
        if (const Save* save = std::get_if<Save>(&statement.node)) {
            const Tile& tile = plan_.tiles.at(save->source);
            if (tile.home == Home::Fragment)
                fit(region_.arrays[save->array.index()], region_.stored.at(save->array),
                    *tile.column);
        }
    });
    // What serial folds read along the columns of their results.
    for (const auto& [leaf, serial] : plan_.serial) {
        const Tile& target = plan_.tiles.at(computes_.at(leaf)->targets.front());
        for (const VariableId read : serial.reads) {
            const auto load = loads_.find(read);
            if (load == loads_.end() || target.home != Home::Fragment) continue;
            const std::vector<std::optional<AxisId>> axes = axes_of_load(*load->second.load);
            const Array& array = region_.arrays[load->second.load->array.index()];
            for (std::size_t d = 0; d < axes.size(); ++d)
                if (axes[d] == target.column && axes.size() == array.axes.size() &&
                    contiguous(array, d))
                    fit(array, region_.variables[read.index()].type, *target.column);
        }
    }
    while (plan_.vector * narrowest > kVectorBits) plan_.vector /= 2;
}

}  // namespace napkin::schedule
