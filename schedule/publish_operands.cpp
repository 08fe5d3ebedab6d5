// Operands that the block computes together, each element once, in matrices that the tensor core
// reads: a norm or an activation before a product, a conversion from a narrow type, a rotation.
// Neighbours of a thread are neighbours in memory, so that what they are computed from is read in
// whole vectors.
#include <algorithm>
#include <map>

#include "diagrams/memory_order.h"
#include "schedule/pairs.h"
#include "schedule/planner.h"

namespace napkin::schedule {

/// Whether every warp group computes a left operand for its own rows, in registers that products
/// take it from: what it is made of is in shared memory or in registers.
bool Planner::computed_by_rows(const Compute& compute, const Product& product,
                               const Expression& value) const {
    constexpr std::int64_t kMostDepth = 128;
    if (!left_in_registers_ || plan_.extents.at(product.depth) > kMostDepth) return false;
    const std::set<ArrayId> arrays = arrays_read(value);
    return std::all_of(compute.reads.begin(), compute.reads.end(), [&](VariableId variable) {
        const Variable& info = region_.variables[variable.index()];
        const Tile& tile = plan_.tiles.at(variable);
        if (!arrays.contains(info.array)) return true;
        // Eight integers of 4 bits are a word, of which a thread's elements are two: unless they
        // are widened in pairs, whoever computes eight neighbours reads less.
        if (tile.home == Home::Matrix && tile.type == ElementType::I4 &&
            !pairs_serve(region_, plan_, compute, product, value))
            return false;
        if (tile.home != Home::Device) return true;
        return std::count_if(info.capacity_extent.begin(), info.capacity_extent.end(),
                             [](std::int64_t extent) { return extent > 1; }) < 2;
    });
}

/// What a warp would compute for its own rows, and other warps again, is published instead, where
/// it is made of nothing that threads hold.
void Planner::publish_operands() {
    for (const auto& [reader, product] : plan_.products) {
        const std::optional<VariableId> variable = operand_of(*computes_.at(reader), product.left);
        if (!variable || loads_.contains(*variable) || !publishable(*variable)) continue;
        Tile& tile = plan_.tiles.at(*variable);
        if (tile.home != Home::Fragment || tile.column != product.depth) continue;
        const auto made = std::find_if(computes_.begin(), computes_.end(), [&](const auto& each) {
            return each.second->targets.front() == *variable;
        });
        if (made != computes_.end() &&
            computed_by_rows(*made->second, product,
                             std::get<Map>(made->second->statement.body).value))
            continue;
        shape_matrix(*variable, tile);
        tile.column.reset();
    }
}

bool Planner::publishable(VariableId variable) const {
    const Variable& info = region_.variables[variable.index()];
    if (!feeds_products(variable) ||
        std::count_if(info.capacity_extent.begin(), info.capacity_extent.end(),
                      [](std::int64_t extent) { return extent > 1; }) != 2)
        return false;
    return std::all_of(computes_.begin(), computes_.end(), [&](const auto& each) {
        const Compute* compute = each.second;
        if (compute->targets.front() != variable) return true;
        const Map* map = std::get_if<Map>(&compute->statement.body);
        return map != nullptr && of_the_block(compute->reads, map->value);
    });
}

/// Whether any thread can compute any element of a value.
bool Planner::of_the_block(const std::vector<VariableId>& reads, const Expression& value) const {
    const std::set<ArrayId> arrays = arrays_read(value);
    return std::all_of(reads.begin(), reads.end(), [&](VariableId variable) {
        const Home home = plan_.tiles.at(variable).home;
        return !arrays.contains(region_.variables[variable.index()].array) ||
               (home != Home::Row && home != Home::Fragment);
    });
}

/// Whether nothing but products reads a computed matrix, so that it may be rounded for them.
bool Planner::feeds_products(VariableId variable) const {
    if (region_.stored.contains(region_.variables[variable.index()].array)) return false;
    return std::all_of(computes_.begin(), computes_.end(), [&](const auto& each) {
        const Compute* compute = each.second;
        if (std::find(compute->reads.begin(), compute->reads.end(), variable) ==
            compute->reads.end())
            return true;
        const auto product = plan_.products.find(each.first);
        if (product == plan_.products.end()) return false;
        return operand_of(*compute, product->second.left) == variable ||
               operand_of(*compute, product->second.right) == variable;
    });
}

/// The axis along which neighbours of an array that is read are neighbours in memory.
std::optional<AxisId> Planner::memory_axis(const Compute& compute, const Read& read) const {
    for (const VariableId variable : compute.reads) {
        if (region_.variables[variable.index()].array != read.array) continue;
        const Tile& tile = plan_.tiles.at(variable);
        const Array& array = array_of(variable);
        if (array.axes.size() < 2) return std::nullopt;
        std::size_t last = innermost_dimension(array);
        if (tile.home == Home::Matrix) last = tile.column_dimension;
        // Of a gather, neighbours are those along the axis that its last index is.
        const auto load = loads_.find(variable);
        if (load != loads_.end() && !load->second.load->gather.empty()) {
            const Load& gather = *load->second.load;
            const Array& source = region_.arrays[gather.array.index()];
            const AxisIndex* along =
                std::get_if<AxisIndex>(&gather.gather[innermost_dimension(source)].node);
            const auto place = along == nullptr
                                   ? array.axes.end()
                                   : std::find(array.axes.begin(), array.axes.end(), along->axis);
            if (place == array.axes.end()) return std::nullopt;
            if (tile.home != Home::Matrix)
                last = static_cast<std::size_t>(place - array.axes.begin());
        }
        if (last >= read.index.size()) return std::nullopt;
        const std::set<AxisId> axes = axes_used(read.index[last]);
        for (const AxisId axis : axes)
            if (wide(axis)) return axis;
    }
    return std::nullopt;
}

/// The columns of a panel are the axis along which most of what it is computed from lies.
void Planner::place_panel(const Compute& compute, const Product& product, Operand& side) const {
    const bool left = &side == &product.left;
    if (left && (!of_the_block(compute.reads, side.value) ||
                 computed_by_rows(compute, product, side.value)))
        return;
    const AxisId across = left ? *plan_.row : product.column;
    std::map<AxisId, int> along;
    walk(side.value, [&](const Expression& node) {
        if (const Read* read = std::get_if<Read>(&node.node))
            if (const std::optional<AxisId> axis = memory_axis(compute, *read)) ++along[*axis];
    });
    side.panel = along[across] > along[product.depth] ? Panel{product.depth, across}
                                                      : Panel{across, product.depth};
}

}  // namespace napkin::schedule
