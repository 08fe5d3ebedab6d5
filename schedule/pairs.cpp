#include "schedule/pairs.h"

#include <algorithm>

#include "diagrams/contains.h"
#include "diagrams/memory_order.h"
#include "schedule/statements.h"
#include "schedule/straight_reads.h"

namespace napkin::schedule {
namespace {

bool rounds(Function function) {
    return function != Function::Max && function != Function::Min;
}

/// How many operations on the way to a value round; none where one has no form for pairs.
std::optional<int> roundings(const Expression& value) {
    if (std::holds_alternative<Read>(value.node)) return 0;
    const Number* constant = std::get_if<Number>(&value.node);
    if (constant != nullptr && constant->value == 0) return 0;
    const Apply* apply = std::get_if<Apply>(&value.node);
    if (apply == nullptr || !has_pair_form(apply->function)) return std::nullopt;
    int count = rounds(apply->function) ? 1 : 0;
    for (const Expression& argument : apply->arguments) {
        const std::optional<int> inner = roundings(argument);
        if (!inner) return std::nullopt;
        count += *inner;
    }
    return count;
}

void collect_reads(const Expression& value, std::vector<Expression>& reads) {
    if (std::holds_alternative<Read>(value.node)) {
        if (!contains(reads, value)) reads.push_back(value);
    } else if (const Apply* apply = std::get_if<Apply>(&value.node)) {
        for (const Expression& argument : apply->arguments) collect_reads(argument, reads);
    }
}

const Load* load_of(const RegionProgram& region, VariableId variable) {
    const Load* found = nullptr;
    for_statements(region.body, [&](const TileStatement& statement, const Loop*) {
        const Load* load = std::get_if<Load>(&statement.node);
        if (load != nullptr && load->target == variable) found = load;
    });
    return found;
}

/// What is read of an array at the element's own place, all of it in whole chunks.
bool reads_pairs(const RegionProgram& region, const Plan& plan, const Compute& maker,
                 const Product& product, const Read& element) {
    const std::optional<VariableId> variable = variable_read(region, maker, element.array);
    const Load* load = variable ? load_of(region, *variable) : nullptr;
    if (load == nullptr) return false;
    const Array& array = region.arrays[element.array.index()];
    const Tile& tile = plan.tiles.at(*variable);
    // A loaded variable has the type that its array has in device memory.
    if (array.type != region.variables[variable->index()].type || tile.guard ||
        (array.type != product.type && array.type != ElementType::I4) ||
        element.index.size() != array.axes.size())
        return false;
    bool along_rows = false;
    for (std::size_t d = 0; d < array.axes.size(); ++d) {
        const AxisIndex* index = std::get_if<AxisIndex>(&element.index[d].node);
        if (index == nullptr || index->axis != array.axes[d]) return false;
        const auto extent = plan.extents.find(index->axis);
        const bool wide = extent != plan.extents.end() && extent->second > 1;
        if (wide && index->axis != product.depth && index->axis != plan.row) return false;
        along_rows = along_rows || index->axis == plan.row;
    }
    if (array.axes.empty()) return false;
    const std::size_t last = innermost_dimension(array);
    if (array.axes[last] != product.depth) return false;
    if (tile.home == Home::Device)
        return !along_rows && load->gather.empty() && array.type == product.type;
    return tile.home == Home::Matrix && along_rows && tile.type == array.type &&
           tile.column_dimension == last;
}

/// Whether every chunk along the depth holds whole pairs, as many as the tensor core takes.
bool has_whole_chunks(const RegionProgram& region, const Plan& plan, AxisId depth) {
    const Axis& axis = region.axes[depth.index()];
    const std::int64_t held = plan.extents.at(depth);
    return !axis.dynamic && axis.extent % held == 0 && held % kTile == 0 &&
           find_tile_axis(plan.tile_axes, depth) == nullptr &&
           tile_axis_of(plan.tile_axes, depth) == depth;
}

}  // namespace

bool pairs_serve(const RegionProgram& region, const Plan& plan, const Compute& maker,
                 const Product& product, const Expression& value) {
    if (!has_whole_chunks(region, plan, product.depth)) return false;
    const std::optional<int> count = roundings(value);
    const Read* alone = std::get_if<Read>(&value.node);
    const bool widens =
        alone != nullptr && region.arrays[alone->array.index()].type == ElementType::I4;
    if (!count || (*count != 1 && !widens)) return false;
    const std::vector<Expression> reads = elements_read(value);
    return std::all_of(reads.begin(), reads.end(), [&](const Expression& read) {
        return reads_pairs(region, plan, maker, product, std::get<Read>(read.node));
    });
}

bool has_pair_form(Function function) {
    switch (function) {
    case Function::Add:
    case Function::Subtract:
    case Function::Multiply:
    case Function::Max:
    case Function::Min: return true;
    default: return false;
    }
}

const Compute* maker_of(const RegionProgram& region, const Plan& plan, LeafId product) {
    const Compute& multiplied = std::get<Compute>(leaves_of(region)[product.index()]->node);
    const std::optional<VariableId> direct = plan.products.at(product).left.direct;
    if (!direct) return &multiplied;
    const Compute* maker = nullptr;
    int writers = 0;
    int others = 0;
    for_statements(region.body, [&](const TileStatement& statement, const Loop*) {
        if (const Save* save = std::get_if<Save>(&statement.node))
            others += save->source == *direct;
        const Compute* compute = std::get_if<Compute>(&statement.node);
        if (compute == nullptr) return;
        if (compute->targets.front() == *direct) maker = compute, ++writers;
        if (compute != &multiplied) others += contains(compute->reads, *direct);
    });
    return writers == 1 && others == 0 ? maker : nullptr;
}

std::optional<Expression> paired_value(const RegionProgram& region, const Plan& plan,
                                       const Program& program, LeafId leaf) {
    const auto found = plan.products.find(leaf);
    if (found == plan.products.end() || !program.left_of.contains(leaf)) return std::nullopt;
    const Product& product = found->second;
    const bool narrow = product.type == ElementType::BF16 || product.type == ElementType::F16;
    if (!narrow) return std::nullopt;
    const Compute* maker = maker_of(region, plan, leaf);
    if (maker == nullptr) return std::nullopt;
    const Map* map = std::get_if<Map>(&maker->statement.body);
    if (product.left.direct && map == nullptr) return std::nullopt;
    const Expression& value = product.left.direct ? map->value : product.left.value;
    const Array& made = region.arrays[maker->statement.targets.front().index()];
    if (product.left.direct && made.rounds && made.type != product.type) return std::nullopt;
    if (!pairs_serve(region, plan, *maker, product, value)) return std::nullopt;
    return value;
}

std::optional<LeafId> paired_product(const RegionProgram& region, const Plan& plan,
                                     const Program& program, const Op& op) {
    if (op.kind != Op::Kind::Elements || program.left_of.empty()) return std::nullopt;
    const Compute* compute = std::get_if<Compute>(&leaves_of(region)[op.leaf.index()]->node);
    for (const auto& [leaf, product] : plan.products) {
        const bool makes =
            op.side == Op::Side::Left
                ? leaf == op.leaf
                : compute != nullptr && product.left.direct == compute->targets.front();
        if (makes && paired_value(region, plan, program, leaf)) return leaf;
    }
    return std::nullopt;
}

std::vector<Expression> elements_read(const Expression& value) {
    std::vector<Expression> reads;
    collect_reads(value, reads);
    return reads;
}

std::optional<VariableId> variable_read(const RegionProgram& region, const Compute& compute,
                                        ArrayId array) {
    for (const VariableId variable : compute.reads)
        if (region.variables[variable.index()].array == array) return variable;
    return std::nullopt;
}

}  // namespace napkin::schedule
