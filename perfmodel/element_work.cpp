#include "perfmodel/element_work.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "diagrams/contains.h"
#include "perfmodel/affine.h"
#include "perfmodel/function_cost.h"
#include "schedule/statements.h"

namespace napkin {
namespace {

constexpr double kReadAlone = 3;       ///< to read one alone: its place, a load, to 32 bits
constexpr double kHalf = 1;            ///< to take one out of a word of two
constexpr double kWiden = 3;           ///< from a type of 8 bits or 4
constexpr double kRowsOfFragment = 8;  ///< turns of such a read where rows are far apart

}  // namespace

void ElementWork::start(bool is_product) {
    is_product_ = is_product;
    read_.clear();
}

double ElementWork::places_of(const Compute& compute) const {
    double places = elements(compute.statement.targets.front());
    if (!schedule::is_scan(compute.statement))
        for (const AxisId axis : folded_axes(compute.statement)) places *= extent(axis);
    // Where no column axis is shared by warps, each of them does all.
    const std::vector<AxisId> axes = axes_of(compute);
    const bool is_split = std::any_of(axes.begin(), axes.end(),
                                      [&](AxisId axis) { return plan_.split.contains(axis); });
    return plan_.has_products() && !is_split ? places * static_cast<double>(plan_.warps_across)
                                             : places;
}

std::vector<AxisId> ElementWork::axes_of(const Compute& compute) const {
    std::vector<AxisId> axes = region_.arrays[compute.statement.targets.front().index()].axes;
    for (const AxisId axis : folded_axes(compute.statement)) axes.push_back(axis);
    return axes;
}

double ElementWork::extent(AxisId axis) const {
    const auto found = plan_.extents.find(axis);
    return found == plan_.extents.end() ? 1 : static_cast<double>(found->second);
}

double ElementWork::reached(const Expression& index, AxisId axis) const {
    double pairs = 1;
    for (const AxisId each : axes_used(index)) pairs *= extent(each);
    const double reached = std::min(pairs, static_cast<double>(region_.axes[axis.index()].extent));
    const std::optional<Affine> form = affine_form(region_.axes, index);
    if (!form) return reached;
    double width = 1;
    for (const auto& [each, factor] : form->factors)
        width += std::abs(static_cast<double>(factor.value)) * (extent(each) - 1);
    return std::min(reached, width);
}

double ElementWork::neighbours(const Expression& index, AxisId axis) const {
    for (const ArrayId array : arrays_read(index))
        if (region_.arrays[array.index()].role != ArrayRole::Parameter) return 1;
    const std::optional<Affine> form = affine_form(region_.axes, index);
    const bool goes_on =
        !form || std::any_of(form->factors.begin(), form->factors.end(), [&](const auto& each) {
            return std::abs(each.second.value) == 1 && extent(each.first) > 1;
        });
    return goes_on ? reached(index, axis) : 1;
}

double ElementWork::elements(const Read& read) const {
    const std::vector<AxisId>& axes = region_.arrays[read.array.index()].axes;
    double count = 1;
    for (std::size_t d = 0; d < axes.size(); ++d) count *= reached(read.index[d], axes[d]);
    return count;
}

double ElementWork::elements(ArrayId array) const {
    double count = 1;
    for (const AxisId axis : region_.arrays[array.index()].axes) count *= extent(axis);
    return count;
}

UnitWork ElementWork::instructions_of(const Compute& compute, const Expression& expression,
                                      bool is_compared) {
    UnitWork work;
    if (const Read* element = std::get_if<Read>(&expression.node)) {
        const bool is_new = !contains(read_, *element);
        if (is_new) read_.push_back(*element);
        if (is_new && varies_in_row(compute, expression))
            return reading(compute, element->array, expression, is_compared);
        return work;
    }
    if (const Convert* convert = std::get_if<Convert>(&expression.node)) {
        work.instructions = 1;
        return work += instructions_of(compute, convert->argument.front());
    }
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr || !varies_in_row(compute, expression)) return work;
    if (call->function == Function::Select && arrays_read(call->arguments[0]).empty())
        return work += instructions_of(
                   compute, call->arguments[arrays_read(call->arguments[1]).empty() ? 2 : 1]);
    // A quotient by what a row has once is a product.
    const bool is_scaled =
        call->function == Function::Divide && !varies_in_row(compute, call->arguments[1]);
    const FunctionCost cost =
        is_scaled ? cost_of_function(Function::Multiply) : cost_of_call(*call);
    work.instructions = cost.instructions;
    work.exponentials = cost.special;
    const bool compares = call->function >= Function::Less && call->function <= Function::NotEqual;
    for (const Expression& argument : call->arguments)
        work += instructions_of(compute, argument, compares);
    return work;
}

/// Whether it has a value for each of several elements of a row; others are computed once.
bool ElementWork::varies_in_row(const Compute& compute, const Expression& expression) const {
    const std::set<AxisId> used = schedule::axes_along(plan_.tile_axes, expression);
    return std::any_of(used.begin(), used.end(), [&](AxisId axis) {
        return axis != plan_.row && extent(axis) > 1 && contains(axes_of(compute), axis);
    });
}

double ElementWork::mask_of(const Compute& compute) const {
    double instructions = 0;
    for (const Expression* value : expressions_of(compute.statement))
        walk(*value, [&](const Expression& part) {
            const Apply* call = std::get_if<Apply>(&part.node);
            if (call == nullptr || call->function != Function::Select ||
                !arrays_read(call->arguments[0]).empty())
                return;
            for (const AxisId axis : axes_used(call->arguments[0]))
                instructions += varies_in_row(compute, axis_index(axis)) ? 2 : 0;
            instructions += 1;
        });
    return instructions;
}

/// What brings an element to a register. A warp that reads elements one by one takes a turn of
/// the memory beside its processor for every line that it touches, for those of a fragment one
/// a row. What is compared is not widened.
UnitWork ElementWork::reading(const Compute& compute, ArrayId array, const Expression& read,
                              bool is_compared) const {
    UnitWork work;
    for (const VariableId variable : compute.reads) {
        if (region_.variables[variable.index()].array != array) continue;
        if (in_pairs_.contains(variable)) {
            work.instructions = kHalf;
            return work;
        }
        const auto tile = plan_.tiles.find(variable);
        if (tile == plan_.tiles.end()) return work;
        const bool is_small = bits_of(region_.arrays[array.index()].type) <= 8;
        const double widen = is_small && !is_compared ? kWiden : 0;
        const schedule::Home target = plan_.tiles.at(compute.targets.front()).home;
        const bool in_vectors =
            is_product_ || target == schedule::Home::Matrix || !plan_.has_products();
        const bool is_far = tile->second.home == schedule::Home::Device;
        if (!is_far && tile->second.home != schedule::Home::Matrix &&
            tile->second.home != schedule::Home::Shared)
            return work;
        work.instructions = (in_vectors ? 1 : kReadAlone) + widen;
        if (tile->second.turned)
            work.shared = turned_bytes();
        else if (in_vectors)
            work.shared = static_cast<double>(bits_of(tile->second.type)) / 8;
        else
            work.turns = (is_far && varies_down(read) ? kRowsOfFragment : 1.0) / kLanes;
        return work;
    }
    return work;
}

/// Of the banks' bytes, for an element that a lane reads alone: eight rows lie at different ones.
double ElementWork::turned_bytes() const {
    constexpr double kBankBytes = 128;
    constexpr double kRowsApart = 8;
    const double rows = std::min(static_cast<double>(plan_.lanes_per_row), kLanes);
    return kBankBytes / kLanes * std::max(1.0, rows / kRowsApart);
}

/// Whether it differs from row to row.
bool ElementWork::varies_down(const Expression& read) const {
    return plan_.row && schedule::axes_along(plan_.tile_axes, read).contains(*plan_.row);
}

}  // namespace napkin
