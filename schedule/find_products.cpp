// Which folds are products of matrices, what their operands are, and of which type.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "schedule/planner.h"
#include "schedule/scales.h"
#include "schedule/straight_reads.h"

namespace napkin::schedule {
namespace {

bool tensor_core_type(ElementType type) {
    return type == ElementType::BF16 || type == ElementType::F16 || type == ElementType::TF32;
}

bool is_zero(const Expression& expression) {
    const Number* literal = std::get_if<Number>(&expression.node);
    return literal != nullptr && literal->value == 0;
}

/// Whether an element can be read whatever the conditions around it.
bool reads_plainly(const Expression& expression) {
    bool plain = true;
    walk(expression, [&](const Expression& node) {
        const Read* read = std::get_if<Read>(&node.node);
        if (read == nullptr) return;
        for (const Expression& index : read->index)
            plain = plain && std::holds_alternative<AxisIndex>(index.node);
    });
    return plain;
}

std::vector<Expression> factors_of(const Expression& expression);

/// `if c then u * v else 0` is `(if c then u else 0) * v` where u runs along all that c does.
std::optional<std::vector<Expression>> masked_factors(const Expression& condition,
                                                      const Expression& product) {
    std::vector<Expression> factors = factors_of(product);
    const std::set<AxisId> needed = axes_used(condition);
    for (std::size_t i = 0; i < factors.size(); ++i) {
        const std::set<AxisId> uses = axes_used(factors[i]);
        if (!std::includes(uses.begin(), uses.end(), needed.begin(), needed.end())) continue;
        const Expression whole = factors[i];
        bool others = true;
        for (std::size_t o = 0; o < factors.size(); ++o)
            others = others && (o == i || reads_plainly(factors[o]));
        if (!others) continue;
        factors[i] = apply(Function::Select, {condition, whole, number(0)});
        return factors;
    }
    return std::nullopt;
}

std::vector<Expression> factors_of(const Expression& expression) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call != nullptr && call->function == Function::Multiply) {
        std::vector<Expression> factors = factors_of(call->arguments[0]);
        for (Expression& factor : factors_of(call->arguments[1]))
            factors.push_back(std::move(factor));
        return factors;
    }
    if (call != nullptr && call->function == Function::Negate) {
        std::vector<Expression> factors = factors_of(call->arguments[0]);
        factors.push_back(number(-1));
        return factors;
    }
    if (call != nullptr && call->function == Function::Select && is_zero(call->arguments[2]))
        if (auto factors = masked_factors(call->arguments[0], call->arguments[1])) return *factors;
    return {expression};
}

}  // namespace

bool converts_exactly(ElementType from, ElementType to) {
    if (from == to) return true;
    // Only f16's exponents are narrower than any others.
    const bool range = to != ElementType::F16 || from == ElementType::E4M3 ||
                       from == ElementType::E5M2 || !is_floating(from);
    const double step =
        is_floating(from) ? unit_roundoff(from) : std::ldexp(1.0, -static_cast<int>(bits_of(from)));
    return range && step >= unit_roundoff(to);
}

void Planner::find_products() {
    for (const auto& [leaf, compute] : computes_) {
        const Fold* fold = std::get_if<Fold>(&compute->statement.body);
        if (fold == nullptr) continue;
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
                          "group or stream all of them but two by 1, or use `--target simt`",
                          narrowing(axes, 1));
        Candidate candidate{leaf, depth.front(), axes, {}};
        if (fold->monoid != kSum) continue;
        candidate.factors = factors_of(fold->values.front());
        if (!is_product(candidate, depth)) continue;
        if (depth.size() > 1)
            return refuse(fmt::format("`{}` sums over {} at once", target, names(depth)),
                          "stream all of them but one by 1, or use `--target simt`",
                          narrowing(depth, 1));
        products_.push_back(std::move(candidate));
    }
}

/// Whether some factors run along one axis of the result and others along the other, none along
/// both; then either can be the rows.
bool Planner::is_product(const Candidate& candidate, const std::vector<AxisId>& depth) {
    bool sides[] = {false, false};
    for (const Expression& factor : candidate.factors) {
        const std::set<AxisId> uses = axes_used(factor);
        if (std::none_of(depth.begin(), depth.end(),
                         [&](AxisId axis) { return uses.contains(axis); }))
            continue;
        const bool first = uses.contains(candidate.axes.front());
        const bool second = uses.contains(candidate.axes.back());
        if (first && second) return false;
        sides[0] = sides[0] || first;
        sides[1] = sides[1] || second;
    }
    return sides[0] && sides[1];
}

/// Which factors stand on which side.
void Planner::orient(const Candidate& candidate) {
    const AxisId row = *plan_.row;
    const AxisId column =
        candidate.axes.front() == row ? candidate.axes.back() : candidate.axes.front();
    Product product;
    product.column = column;
    product.depth = candidate.depth;
    std::vector<Expression> left;
    std::vector<Expression> right;
    std::vector<Expression> either;
    for (const Expression& factor : candidate.factors) {
        const std::set<AxisId> uses = axes_used(factor);
        if (const std::optional<double> value = constant_value(region_, factor)) {
            product.scale *= *value;
        } else if (!uses.contains(candidate.depth)) {
            product.outside.push_back(factor);
        } else {
            (uses.contains(row) ? left : uses.contains(column) ? right : either).push_back(factor);
        }
    }
    for (Expression& factor : either) (left.size() > 1 ? left : right).push_back(factor);
    const auto whole = [](const std::vector<Expression>& factors) {
        Expression value = factors.front();
        for (std::size_t i = 1; i < factors.size(); ++i)
            value = apply(Function::Multiply, {value, factors[i]});
        return value;
    };
    product.left.value = whole(left);
    product.right.value = whole(right);
    plan_.products[candidate.leaf] = std::move(product);
}

/// The operands' type, and whether the tensor core takes them as they stand.
void Planner::settle(const Compute& compute, Product& product) {
    std::set<ElementType> types;
    bool small = true;  // bf16 holds every operand
    for (Operand* side : {&product.left, &product.right}) {
        take_guarded(*side);
        const std::optional<VariableId> variable = operand_of(compute, *side);
        small = small && variable && loads_.contains(*variable) &&
                converts_exactly(region_.variables[variable->index()].type, ElementType::BF16);
        if (!variable) continue;
        const Tile& tile = plan_.tiles.at(*variable);
        if (!loads_.contains(*variable)) {
            const bool held = side == &product.left && tile.home == Home::Fragment &&
                              tile.column == product.depth;
            const bool published = tile.home == Home::Matrix && feeds_products(*variable);
            if (held || published) side->direct = *variable;
            continue;
        }
        const ElementType type = region_.variables[variable->index()].type;
        if (array_of(*variable).role == ArrayRole::Input &&
            !converts_exactly(type, ElementType::TF32))
            return refuse(
                fmt::format("`{}` multiplies `{}`, which is {}",
                            array_of(compute.targets.front()).name, array_of(*variable).name,
                            name_of(type)),
                fmt::format("declare `{}` as tf32, bf16 or f16 where that is precise enough, "
                            "or use `--target simt`",
                            array_of(*variable).name));
        if (!tensor_core_type(type)) continue;
        types.insert(type);
        if (tile.home == Home::Matrix) side->direct = *variable;
    }
    // tf32 holds bf16 and f16.
    product.type = types.size() > 1    ? ElementType::TF32
                   : types.size() == 1 ? *types.begin()
                   : small             ? ElementType::BF16
                                       : operand_type(compute);
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

/// `if e < size(b) then B[e] else 0` is the element of a tile that is zero past the end.
void Planner::take_guarded(Operand& side) {
    const Apply* choice = std::get_if<Apply>(&side.value.node);
    if (choice == nullptr || choice->function != Function::Select || !is_zero(choice->arguments[2]))
        return;
    const Read* read = std::get_if<Read>(&choice->arguments[1].node);
    if (read == nullptr) return;
    for (const auto& [variable, place] : loads_) {
        Tile& tile = plan_.tiles.at(variable);
        if (region_.variables[variable.index()].array != read->array || tile.home != Home::Matrix ||
            !always_guarded(variable))
            continue;
        tile.zero_past_end = true;
        Expression element = choice->arguments[1];
        side.value = std::move(element);
        return;
    }
}

/// Whether a view is read only where it is not past the end of its array.
bool Planner::always_guarded(VariableId variable) const {
    const Load& load = *loads_.at(variable).load;
    const std::optional<Expression> inside = inside_of(region_, load);
    if (!inside) return false;
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
                    choice->arguments[0] == *inside && is_read(choice->arguments[1]))
                    ++guarded;
            });
    return reads == guarded;
}

/// The variable whose element an operand is.
std::optional<VariableId> Planner::operand_of(const Compute& compute, const Operand& side) const {
    const Read* read = std::get_if<Read>(&side.value.node);
    if (read == nullptr) return std::nullopt;
    for (const VariableId variable : compute.reads)
        if (region_.variables[variable.index()].array == read->array) return variable;
    return std::nullopt;
}

/// The type of the product's inputs, where both sides are computed.
ElementType Planner::operand_type(const Compute& compute) const {
    for (const VariableId variable : compute.reads)
        if (const ElementType type = region_.variables[variable.index()].type;
            tensor_core_type(type))
            return type;
    for (const auto& [variable, load] : loads_)
        if (const ElementType type = region_.variables[variable.index()].type;
            tensor_core_type(type))
            return type;
    return ElementType::TF32;
}

}  // namespace napkin::schedule
