#include "perfmodel/bound.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "diagrams/interval.h"
#include "perfmodel/affine.h"

namespace napkin {

namespace {

/// Beyond so many indices along a masked axis, its arrays are left out of the bound.
constexpr std::int64_t kMostIndices = 1 << 20;

/// Conditions that decide whether an element is read at all.
std::vector<const Expression*> conditions_of(const Diagram& diagram) {
    std::vector<const Expression*> conditions;
    for (const Statement& statement : diagram.statements)
        for (const Expression* expression : expressions_of(statement))
            walk(*expression, [&](const Expression& node) {
                const Apply* call = std::get_if<Apply>(&node.node);
                if (call == nullptr || call->function != Function::Select) return;
                const Expression& condition = call->arguments.front();
                const bool known =
                    std::any_of(conditions.begin(), conditions.end(),
                                [&](const Expression* other) { return *other == condition; });
                const bool decides =
                    !axes_used(condition).empty() || !arrays_read(condition).empty();
                if (decides && !known) conditions.push_back(&condition);
            });
    return conditions;
}

/// Comparisons of affine forms joined by `and`: interval reasoning decides them exactly.
bool is_exact(const std::vector<Axis>& axes, const Expression& condition) {
    const Apply* call = std::get_if<Apply>(&condition.node);
    if (call == nullptr) return false;
    const auto each = [&](const auto& test) {
        return std::all_of(call->arguments.begin(), call->arguments.end(), test);
    };
    switch (call->function) {
    case Function::And: return each([&](const Expression& part) { return is_exact(axes, part); });
    case Function::Less:
    case Function::LessEqual:
    case Function::Greater:
    case Function::GreaterEqual:
        return each([&](const Expression& side) { return affine_form(axes, side).has_value(); });
    default: return false;
    }
}

/// How many indices of an axis some element needs; nullopt where that cannot be told.
std::optional<std::int64_t> needed(const Diagram& diagram, AxisId axis,
                                   const std::vector<const Expression*>& conditions) {
    const std::int64_t extent = diagram[axis].extent;
    std::vector<const Expression*> about;
    for (const Expression* condition : conditions)
        if (axes_used(*condition).contains(axis)) about.push_back(condition);
    if (about.empty()) return extent;
    const bool exact = std::all_of(about.begin(), about.end(), [&](const Expression* condition) {
        return is_exact(diagram.axes, *condition);
    });
    if (!exact || about.size() > 1 || extent > kMostIndices) return std::nullopt;
    std::int64_t count = 0;
    for (std::int64_t index = 0; index < extent; ++index)
        if (coverage(diagram.axes, *about.front(), {{axis, {index, index}}}) != Coverage::Empty)
            ++count;
    return count;
}

/// Whether some statement reads the array by plain, distinct, whole axes.
bool is_read_in_whole(const Diagram& diagram, ArrayId array) {
    for (const Statement& statement : diagram.statements)
        for (const Expression* expression : expressions_of(statement)) {
            bool whole = false;
            walk(*expression, [&](const Expression& node) {
                const Read* element = std::get_if<Read>(&node.node);
                if (element == nullptr || element->array != array) return;
                std::set<AxisId> distinct;
                bool plain = true;
                for (std::size_t k = 0; k < element->index.size(); ++k) {
                    const AxisIndex* index = std::get_if<AxisIndex>(&element->index[k].node);
                    plain = plain && index != nullptr && distinct.insert(index->axis).second &&
                            diagram[index->axis].extent == diagram[diagram[array].axes[k]].extent;
                }
                whole = whole || plain;
            });
            if (whole) return true;
        }
    return false;
}

}  // namespace

std::optional<TransferBound> bound_of(const Diagram& diagram) {
    const std::vector<const Expression*> conditions = conditions_of(diagram);
    TransferBound bound;
    bound.amount.ideal = Polynomial{};
    bound.citation = "compulsory traffic: every input is read and every output written once";
    for (std::uint32_t i = 0; i < diagram.arrays.size(); ++i) {
        const Array& array = diagram.arrays[i];
        const bool is_input = array.role == ArrayRole::Input;
        if (!is_input && array.role != ArrayRole::Output) continue;
        if (is_input && !is_read_in_whole(diagram, ArrayId{i})) continue;
        std::int64_t values = 1;
        std::int64_t cut = 0;
        Formula formula{1};
        for (AxisId axis : array.axes) {
            const std::optional<std::int64_t> count =
                is_input ? needed(diagram, axis, conditions) : diagram[axis].extent;
            const bool whole = count == diagram[axis].extent;
            if (!whole) ++cut;
            formula =
                formula * (whole ? size_formula(diagram.axes, axis) : Formula(count.value_or(0)));
            if (__builtin_mul_overflow(values, count.value_or(0), &values)) return std::nullopt;
        }
        if (cut > 1 || values == 0) continue;
        std::int64_t bits = 0;
        if (__builtin_mul_overflow(values, bits_of(array.type), &bits) ||
            __builtin_add_overflow(bound.amount.bits, bits, &bound.amount.bits) ||
            __builtin_add_overflow(bound.amount.values, values, &bound.amount.values))
            return std::nullopt;
        bound.amount.by_type[array.type] += values;
        bound.amount.formula = bound.amount.formula + formula;
    }
    bound.amount.ideal = idealise(bound.amount.formula);
    return bound;
}

namespace {

/// The tile sizes that a monomial is divided by or multiplied with, the rest apart.
struct Split {
    Monomial tiles;
    Polynomial rest;
};
Split split_tiles(const Monomial& monomial, Rational coefficient) {
    Split split;
    Monomial rest;
    for (const auto& [name, exponent] : monomial)
        (name.starts_with("g_") || name.starts_with("s_") ? split.tiles : rest)[name] = exponent;
    split.rest = Polynomial{{{rest, coefficient}}};
    return split;
}

bool has_stream(const Monomial& tiles) {
    return std::any_of(tiles.begin(), tiles.end(),
                       [](const auto& power) { return power.first.starts_with("s_"); });
}

/// Coefficients by product of tile sizes.
using ByTiles = std::map<Monomial, Polynomial>;
ByTiles by_tiles(const Polynomial& polynomial) {
    ByTiles result;
    for (const auto& [monomial, coefficient] : polynomial.terms) {
        const Split split = split_tiles(monomial, coefficient);
        result[split.tiles] = result[split.tiles] + split.rest;
    }
    return result;
}

Monomial inverse(const Monomial& monomial) {
    Monomial result;
    for (const auto& [name, exponent] : monomial) result[name] = rational(-1) * exponent;
    return result;
}

/// alpha / D with M = c D: every group size enters both only through the product D.
std::optional<Polynomial> by_product(const ByTiles& moved, const Monomial& groups,
                                     const Polynomial& held) {
    const auto fixed = moved.find({});
    const auto shared = moved.find(inverse(groups));
    if (shared == moved.end() || moved.size() != (fixed == moved.end() ? 1U : 2U))
        return std::nullopt;
    const Polynomial rest = fixed == moved.end() ? Polynomial{} : fixed->second;
    return rest + shared->second * held * symbol_polynomial("M", rational(-1));
}

/// alpha (1/g + 1/h) with M = c g h: equal groups are best.
std::optional<Polynomial> by_square(const ByTiles& moved, const Monomial& groups,
                                    const Polynomial& held) {
    if (groups.size() != 2) return std::nullopt;
    Polynomial rest;
    std::vector<Polynomial> shares;
    for (const auto& [tiles, coefficient] : moved) {
        if (tiles.empty())
            rest = coefficient;
        else if (tiles.size() == 1 && tiles.begin()->second == Rational{-1, 1} &&
                 groups.contains(tiles.begin()->first))
            shares.push_back(coefficient);
        else
            return std::nullopt;
    }
    if (shares.size() != 2 || shares[0] != shares[1]) return std::nullopt;
    const std::optional<Polynomial> root = power(held, rational(1, 2));
    if (!root) return std::nullopt;
    return rest + constant_polynomial(rational(2)) * shares[0] * *root *
                      symbol_polynomial("M", rational(-1, 2));
}

}  // namespace

std::optional<BestTransfers> best_of(const RegionCost& cost, std::int64_t capacity) {
    if (cost.chunks_visited < cost.chunks) return std::nullopt;
    const LevelCost& block = cost.levels.at(Level::Block);
    if (!block.transferred.ideal || !block.memory.ideal) return std::nullopt;
    const ByTiles moved = by_tiles(*block.transferred.ideal);
    ByTiles held = by_tiles(*block.memory.ideal);
    std::erase_if(held, [](const auto& entry) { return has_stream(entry.first); });
    if (held.size() != 1 || held.begin()->first.empty()) return std::nullopt;
    const auto& [groups, factor] = *held.begin();
    const bool linear = std::all_of(groups.begin(), groups.end(), [](const auto& power) {
        return power.second == Rational{1, 1};
    });
    if (!linear) return std::nullopt;
    std::optional<Polynomial> best = by_product(moved, groups, factor);
    const bool squares = !best.has_value();
    if (squares) best = by_square(moved, groups, factor);
    if (!best) return std::nullopt;
    std::map<std::string, double> values;
    for (const auto& [name, size] : cost.sizes) values[name] = static_cast<double>(size);
    values["M"] = static_cast<double>(capacity);
    return BestTransfers{evaluate(*best, values), print(*best, cost.order),
                         "the continuous limit of small chunks, while the group sizes it asks for "
                         "are between 1 and their axes"};
}

}  // namespace napkin
