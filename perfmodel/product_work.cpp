#include "perfmodel/product_work.h"

#include <algorithm>
#include <cmath>

#include "schedule/arrange_groups.h"
#include "schedule/operation_cost.h"
#include "schedule/pairs.h"
#include "schedule/schedule.h"
#include "schedule/statements.h"
#include "schedule/warp_shape.h"

namespace napkin {
namespace {

using schedule::Unit;

constexpr double kPairAlone = 3;       ///< to read two of 16 bits, each by a load, into a word
constexpr double kWidenedPair = 4.25;  ///< of 4 bits: a quarter of a read, and to numbers
constexpr double kWordsAtOnce = 4;     ///< a lane's, of integers of 4 bits
constexpr double kPerWord = 8;         ///< integers of 4 bits

}  // namespace

UnitWork ProductWork::of(const schedule::Op& op, const Compute& compute,
                         const schedule::Product& product) {
    const auto all_warps = static_cast<double>(warps());
    const double share =
        op.cost.of(Unit::Tensor) * schedule::tensor_rate(groups() > 0, product) * all_warps;
    const double depth = static_cast<double>(plan_.extents.at(product.depth));
    const double columns = static_cast<double>(schedule::columns_of(plan_, product.column).of_warp);
    const auto rows = static_cast<double>(plan_.rows_of_warp);
    const double part = share / (2 * rows * columns * depth * all_warps);
    UnitWork work;
    work.products[product.type] = share;
    // A warp group waits where the program says so.
    if (groups() == 0) work.steps = part * std::ceil(depth / schedule::kTile);
    if (groups() > 0 && op.completion == schedule::Completion::Immediate && !is_narrow(product)) {
        work.awaited[product.type] = share;
        work.steps = part;
    }
    // Each warp fetches its rows of the left operand and its columns of the right one; of a
    // group's warps each its rows, and all together the columns.
    const double right = groups() > 0 ? columns / schedule::kWarpsOfGroup : columns;
    const double fetched =
        (schedule::in_matrix(plan_, product.left) ? rows + right : right) * depth * all_warps;
    work.shared = part * fetched * static_cast<double>(bits_of(product.type)) / 8;
    double each = is_accumulated(op.leaf) ? 0 : accumulated_each(compute, product);
    // Parts of a sum in 8 bits are waited for, and added up.
    if (is_narrow(product)) {
        const auto parts = static_cast<double>(schedule::narrow_parts(plan_, product));
        work.steps = parts - 1;
        each += parts;
    }
    work.instructions = part * each * rows * columns * all_warps;
    // Operands are taken apart: clamped, rounded, masked and subtracted; and every step's sum
    // is added up.
    constexpr double kApart = 4;
    constexpr double kStep = 8;
    if (is_in_parts(product.type))
        work.instructions +=
            part * (kApart * (rows + columns) + rows * columns / kStep) * depth * all_warps;
    // Pairs are words already; of others two elements are put into each.
    if (!schedule::in_matrix(plan_, product.left) &&
        !schedule::paired_value(region_, plan_, program_, op.leaf))
        work.instructions += part * rows * depth * all_warps / 2;
    return work;
}

double ProductWork::accumulated_each(const Compute& compute, const schedule::Product& product) {
    double each = 0;
    for (const Expression& seed : std::get<Fold>(compute.statement.body).seed)
        each += elements_.instructions_of(compute, seed).instructions;
    for (const Expression& outside : product.outside)
        each += 1 + elements_.instructions_of(compute, outside).instructions;
    return each;
}

bool ProductWork::is_accumulated(schedule::LeafId product) const {
    return std::any_of(program_.ops.begin(), program_.ops.end(), [&](const schedule::Op& op) {
        return op.leaf == product && op.kind == schedule::Op::Kind::Accumulate;
    });
}

UnitWork ProductWork::accumulation_of(const Compute& compute, const schedule::Product& product) {
    UnitWork work;
    work.instructions = accumulated_each(compute, product) *
                        static_cast<double>(plan_.rows_of_warp) *
                        static_cast<double>(schedule::columns_of(plan_, product.column).of_warp) *
                        static_cast<double>(warps());
    return work;
}

UnitWork ProductWork::left_of(const Compute& compute, const schedule::Product& product) {
    elements_.start(false);
    return elements_of_left(product) * elements_.instructions_of(compute, product.left.value);
}

UnitWork ProductWork::paired_left_of(schedule::LeafId leaf) const {
    const Expression value = *schedule::paired_value(region_, plan_, program_, leaf);
    const Compute& maker = *schedule::maker_of(region_, plan_, leaf);
    UnitWork pair;
    walk(value, [&](const Expression& part) {
        pair.instructions += std::holds_alternative<Apply>(part.node) ? 1 : 0;
    });
    for (const Expression& read : schedule::elements_read(value)) {
        const ArrayId array = std::get<Read>(read.node).array;
        const VariableId variable = *schedule::variable_read(region_, maker, array);
        const schedule::Tile& tile = plan_.tiles.at(variable);
        if (tile.type == ElementType::I4) {
            pair.instructions += kWidenedPair;
            pair.turns += 1 / kWordsAtOnce / kLanes;
            continue;
        }
        const bool is_far = tile.home == schedule::Home::Device;
        pair.instructions += is_far ? kPairAlone : 1;
        pair.turns += (is_far ? 2 : 1) / kLanes;
    }
    return elements_of_left(plan_.products.at(leaf)) / 2 * std::move(pair);
}

std::vector<VariableId> ProductWork::read_in_pairs(schedule::LeafId leaf) const {
    const Compute& maker = *schedule::maker_of(region_, plan_, leaf);
    std::vector<VariableId> variables;
    for (const Expression& read :
         schedule::elements_read(*schedule::paired_value(region_, plan_, program_, leaf)))
        variables.push_back(
            *schedule::variable_read(region_, maker, std::get<Read>(read.node).array));
    return variables;
}

double ProductWork::elements_of_left(const schedule::Product& product) const {
    return static_cast<double>(plan_.rows_of_warp) *
           static_cast<double>(plan_.extents.at(product.depth)) * static_cast<double>(warps());
}

bool ProductWork::is_far(const Compute& compute, const Expression& value) const {
    bool found = false;
    walk(value, [&](const Expression& part) {
        const Read* read = std::get_if<Read>(&part.node);
        if (read == nullptr || region_.arrays[read->array.index()].axes.size() < 2) return;
        const auto variable = schedule::variable_read(region_, compute, read->array);
        const auto tile = variable ? plan_.tiles.find(*variable) : plan_.tiles.end();
        found =
            found || (tile != plan_.tiles.end() && tile->second.home == schedule::Home::Device &&
                      tile->second.type == ElementType::I4);
    });
    return found;
}

UnitWork ProductWork::panel_of(const Compute& compute, const schedule::Operand& side) {
    const double count = static_cast<double>(schedule::panel_extent(plan_, side.panel->rows) *
                                             schedule::panel_extent(plan_, side.panel->columns));
    UnitWork work = count * elements_.instructions_of(compute, side.value);
    work.instructions += count * kPublish;
    work.shared += count * 2;
    if (groups() == 0 && is_far(compute, side.value)) {
        const double of_thread = count / kPerWord / (kLanes * static_cast<double>(warps()));
        work.own_trips = std::ceil(of_thread / kCopiesTogether);
    }
    if (groups() == 0) work += scattered_.of_operand(compute, side.value, count);
    return work;
}

}  // namespace napkin
