// Which folds are products of matrices, what their operands are, and of which type.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagrams/memory_order.h"
#include "schedule/past_end.h"
#include "schedule/planner.h"
#include "schedule/scales.h"
#include "schedule/straight_reads.h"

namespace napkin::schedule {
bool is_narrow(const Product& product) {
    return is_narrow(product.type);
}

void Planner::find_products() {
    for (const auto& [leaf, compute] : computes_) {
        const Fold* fold = std::get_if<Fold>(&compute->statement.body);
        if (fold == nullptr || fold->every_prefix) continue;
        const std::vector<AxisId> axes = wide_axes(compute->statement.targets.front());
        if (axes.size() < 2) continue;
        std::vector<AxisId> depth;
        for (const AxisId axis : fold->over)
            if (wide(axis)) depth.push_back(axis);
        if (depth.empty()) continue;
        const std::string& target = array_of(compute->targets.front()).name;
        if (axes.size() > 2)
            return refuse(fmt::format("`{}` has {} in one block, which holds arrays of two axes",
                                      target, names(axes)),
                          "group or stream all of them but two by 1", narrowing(axes, 1));
        const auto counts = [&](AxisId axis) { return wide(axis); };
        const auto along = [&](const Expression& factor) {
            return axes_along(plan_.tile_axes, factor);
        };
        std::optional<Contraction> contraction = contraction_of(
            compute->statement, array_of(compute->targets.front()).axes, counts, along);
        if (!contraction) continue;
        if (depth.size() > 1)
            return refuse(fmt::format("`{}` sums over {} at once", target, names(depth)),
                          "stream all of them but one by 1", narrowing(depth, 1));
        products_.push_back({leaf, *std::move(contraction)});
    }
}

/// Which factors stand on which side.
void Planner::orient(Candidate candidate) {
    Contraction& contraction = candidate.contraction;
    if (contraction.rows.front() != plan_.row) swap_sides(contraction);
    place_either(contraction);
    Product product;
    product.column = contraction.columns.front();
    product.depth = contraction.depth.front();
    for (Expression& factor : contraction.outside)
        if (const std::optional<double> value = constant_value(region_, factor))
            product.scale *= *value;
        else
            product.outside.push_back(std::move(factor));
    const auto whole = [](const std::vector<Expression>& factors) {
        Expression value = factors.front();
        for (std::size_t i = 1; i < factors.size(); ++i)
            value = apply(Function::Multiply, {value, factors[i]});
        return value;
    };
    product.left.value = whole(contraction.left);
    product.right.value = whole(contraction.right);
    plan_.products[candidate.leaf] = std::move(product);
}

/// Why an operand is no number of 8 bits that warp groups take as it stands.
std::string Planner::why_widened(const Compute& compute, const Product& product,
                                 const Operand& side) const {
    const std::optional<VariableId> variable = operand_of(compute, side);
    if (!variable || !loads_.contains(*variable))
        return fmt::format("{} of `{}` is computed",
                           &side == &product.left ? "the left operand" : "the right operand",
                           array_of(compute.targets.front()).name);
    const Array& array = array_of(*variable);
    const ElementType type = region_.variables[variable->index()].type;
    if (!is_narrow(type)) return fmt::format("`{}` is {}", array.name, name_of(type));
    const Tile& tile = plan_.tiles.at(*variable);
    if (tile.home != Home::Matrix ||
        axes_of_load(*loads_.at(*variable).load)[tile.column_dimension] != product.depth)
        return fmt::format("neighbours along `{}` of `{}` are none in memory", name(product.depth),
                           array.name);
    return {};
}

/// Takes operands of 8 bits as they stand, where warp groups may: both in memory, along the depth.
bool Planner::settle_narrow(const Compute& compute, Product& product) {
    bool narrow = false;
    for (const Operand* side : {&product.left, &product.right})
        if (const std::optional<VariableId> variable = operand_of(compute, *side))
            narrow = narrow || (loads_.contains(*variable) &&
                                is_narrow(region_.variables[variable->index()].type));
    if (!narrow || !limits_.warp_groups) return false;
    for (const Operand* side : {&product.left, &product.right})
        if (product.widened.empty()) product.widened = why_widened(compute, product, *side);
    if (!product.widened.empty()) return false;
    for (Operand* side : {&product.left, &product.right}) {
        side->direct = operand_of(compute, *side);
        Tile& tile = plan_.tiles.at(*side->direct);
        tile.columns = padded(tile.columns, kNarrowTile);
    }
    product.type = plan_.tiles.at(*product.left.direct).type;
    return true;
}

/// The operands' type, and whether the tensor core takes them as they stand.
void Planner::settle(const Compute& compute, Product& product) {
    std::array<std::optional<LoadedOperand>, 2> loaded;
    for (Operand* side : {&product.left, &product.right}) {
        take_guarded(*side);
        take_unneeded(compute, *side);
    }
    if (settle_narrow(compute, product)) return;
    for (Operand* side : {&product.left, &product.right}) {
        const std::optional<VariableId> variable = operand_of(compute, *side);
        if (!variable) continue;
        const Tile& tile = plan_.tiles.at(*variable);
        if (!loads_.contains(*variable)) {
            const bool held = side == &product.left && tile.home == Home::Fragment &&
                              tile.column == product.depth;
            const bool published = tile.home == Home::Matrix && feeds_products(*variable);
            if (held || published) side->direct = *variable;
            continue;
        }
        const LoadedOperand operand{region_.variables[variable->index()].type,
                                    array_of(*variable).role == ArrayRole::Input};
        if (!operand.is_taken())
            return refuse(
                fmt::format("`{}` multiplies `{}`, which is {}",
                            array_of(compute.targets.front()).name, array_of(*variable).name,
                            name_of(operand.type)),
                fmt::format("declare `{}` as f32, tf32, bf16 or f16 where that is precise enough",
                            array_of(*variable).name));
        loaded[side == &product.left ? 0 : 1] = operand;
        if ((is_multiplied(operand.type) || is_in_parts(operand.type)) && tile.home == Home::Matrix)
            side->direct = *variable;
    }
    product.type = multiplied_type(loaded, type_beside(compute, product));
    for (const Operand* side : {&product.left, &product.right})
        if (rounds_integers(scope_, compute.statement, side->value, product.type,
                            limits_.dynamic_sizes))
            return refuse(
                fmt::format("`{}` multiplies integers of which {} has not all",
                            array_of(compute.targets.front()).name, name_of(product.type)),
                "where that does not matter, multiply reals: `1.0 * ...`");
    for (Operand* side : {&product.left, &product.right})
        if (side->direct && loads_.contains(*side->direct) &&
            plan_.tiles.at(*side->direct).type != product.type)
            side->direct.reset();
    for (Operand* side : {&product.left, &product.right}) {
        if (!side->direct) {
            place_panel(compute, product, *side);
            continue;
        }
        Tile& tile = plan_.tiles.at(*side->direct);
        if (tile.home == Home::Matrix && !loads_.contains(*side->direct)) tile.type = product.type;
    }
}

/// A matrix that the block computes for products of several types holds f32: those that multiply
/// another type make a panel of their own of it.
void Planner::settle_shared() {
    std::map<VariableId, std::set<ElementType>> types;
    const auto for_shared = [&](const auto& visit) {
        for (auto& [leaf, product] : plan_.products)
            for (Operand* side : {&product.left, &product.right})
                if (side->direct && !loads_.contains(*side->direct) &&
                    plan_.tiles.at(*side->direct).home == Home::Matrix)
                    visit(*computes_.at(leaf), product, *side);
    };
    for_shared([&](const Compute&, const Product& product, const Operand& side) {
        types[*side.direct].insert(product.type);
    });
    for_shared([&](const Compute& compute, Product& product, Operand& side) {
        if (types.at(*side.direct).size() == 1) return;
        plan_.tiles.at(*side.direct).type = ElementType::F32;
        if (product.type == ElementType::F32) return;
        side.direct.reset();
        place_panel(compute, product, side);
    });
}

/// `if e < size(b) then B[e] else 0` is the element of a tile that is zero past the end.
void Planner::take_guarded(Operand& side) {
    const Apply* choice = std::get_if<Apply>(&side.value.node);
    if (choice == nullptr || choice->function != Function::Select ||
        !is_literal(choice->arguments[2], 0))
        return;
    const Read* read = std::get_if<Read>(&choice->arguments[1].node);
    if (read == nullptr) return;
    for (const auto& [variable, place] : loads_) {
        Tile& tile = plan_.tiles.at(variable);
        if (region_.variables[variable.index()].array != read->array || tile.home != Home::Matrix)
            continue;
        const bool gathered = is_tiled(plan_.tile_axes, *place.load);
        const std::optional<Expression> inside = gathered
                                                     ? guard_of(*place.load, choice->arguments[0])
                                                     : inside_of(region_, *place.load);
        if (!inside || !always_guarded(variable, *inside)) continue;
        if (gathered)
            tile.guard = inside;
        else
            tile.zero_past_end = true;
        Expression element = choice->arguments[1];
        side.value = std::move(element);
        return;
    }
}

/// What is read past the end of an operand may be zero where nothing depends on it.
void Planner::take_unneeded(const Compute& compute, const Operand& side) {
    const std::optional<VariableId> variable = operand_of(compute, side);
    if (!variable || !loads_.contains(*variable)) return;
    Tile& tile = plan_.tiles.at(*variable);
    const Load& load = *loads_.at(*variable).load;
    if (tile.home != Home::Matrix || is_tiled(plan_.tile_axes, load)) return;
    const std::optional<Expression> inside = inside_of(region_, load);
    if (inside && is_unneeded_outside(region_, region_.variables[variable->index()].array, *inside))
        tile.zero_past_end = true;
}

/// The condition, if whoever gathers an element can test it: it reads nothing, and is the same for
/// neighbours in memory, which come together.
std::optional<Expression> Planner::guard_of(const Load& load, const Expression& condition) const {
    const Array& array = region_.arrays[load.array.index()];
    const std::size_t last = innermost_dimension(array);
    const std::set<AxisId> tested = axes_used(condition);
    for (const AxisId axis : axes_used(load.gather[last]))
        if (tested.contains(axis)) return std::nullopt;
    if (!arrays_read(condition).empty()) return std::nullopt;
    return condition;
}

/// Whether a loaded array is read only where the condition holds.
bool Planner::always_guarded(VariableId variable, const Expression& inside) const {
    const ArrayId array = region_.variables[variable.index()].array;
    std::size_t reads = 0;
    std::size_t guarded = 0;
    const auto is_read = [&](const Expression& node) {
        const Read* read = std::get_if<Read>(&node.node);
        return read != nullptr && read->array == array;
    };
    for (const auto& [leaf, compute] : computes_)
        for (const Expression* expression : expressions_of(compute->statement))
            walk(*expression, [&](const Expression& node) {
                if (is_read(node)) ++reads;
                const Apply* choice = std::get_if<Apply>(&node.node);
                if (choice != nullptr && choice->function == Function::Select &&
                    choice->arguments[0] == inside && is_read(choice->arguments[1]))
                    ++guarded;
            });
    return reads == guarded;
}

/// The variable whose element an operand is; of what is computed, the one at the same indices.
std::optional<VariableId> Planner::operand_of(const Compute& compute, const Operand& side) const {
    const Read* read = std::get_if<Read>(&side.value.node);
    if (read == nullptr) return std::nullopt;
    for (const VariableId variable : compute.reads) {
        if (region_.variables[variable.index()].array != read->array) continue;
        const std::vector<AxisId>& axes = array_of(variable).axes;
        const bool in_place = std::equal(
            read->index.begin(), read->index.end(), axes.begin(), axes.end(),
            [](const Expression& index, AxisId axis) { return index == axis_index(axis); });
        return in_place || loads_.contains(variable) ? std::optional(variable) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<ElementType> Planner::type_beside(const Compute& compute,
                                                const Product& product) const {
    std::vector<VariableId> loaded;
    for (const auto& [variable, load] : loads_) loaded.push_back(variable);
    const std::vector<Expression> left{product.left.value};
    const std::vector<Expression> right{product.right.value};
    return napkin::type_beside(region_, {&left, &right}, compute.reads, loaded);
}

}  // namespace napkin::schedule
