#include "perfmodel/bound.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "diagrams/checked.h"
#include "diagrams/contains.h"
#include "diagrams/index/domain.h"
#include "perfmodel/affine.h"

namespace napkin {

namespace {

/// A condition on which some elements are read and others are not.
struct Decision {
    const Expression* condition = nullptr;
    bool reads_both_ways = false;
    bool holds = true;  ///< of which value elements are read
    bool operator==(const Decision& other) const {
        return *condition == *other.condition && reads_both_ways == other.reads_both_ways &&
               holds == other.holds;
    }
};

std::vector<Decision> decisions_of(const Diagram& diagram) {
    std::vector<Decision> decisions;
    for (const Statement& statement : diagram.statements)
        for (const Expression* expression : expressions_of(statement))
            walk(*expression, [&](const Expression& node) {
                const Apply* call = std::get_if<Apply>(&node.node);
                if (call == nullptr || call->function != Function::Select) return;
                const bool first = !arrays_read(call->arguments[1]).empty();
                const bool second = !arrays_read(call->arguments[2]).empty();
                const Decision decision{&call->arguments[0], first && second, first};
                if ((first || second) && !contains(decisions, decision))
                    decisions.push_back(decision);
            });
    return decisions;
}

/// How many indices of an axis some element needs; nullopt where that cannot be told.
std::optional<std::int64_t> needed(const Diagram& diagram, AxisId axis,
                                   const std::vector<Decision>& decisions) {
    std::vector<Decision> about;
    for (const Decision& decision : decisions)
        if (axes_used(*decision.condition).contains(axis)) about.push_back(decision);
    if (about.empty()) return diagram[axis].extent;
    if (about.size() > 1 || about.front().reads_both_ways) return std::nullopt;
    std::vector<Axis> axes = diagram.axes;
    for (Axis& each : axes) each.dynamic = false;
    index::Domain domain(axes, {});
    domain.restrict_to(*about.front().condition, about.front().holds);
    return index::count_of(domain, axis);
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
    const std::vector<Decision> decisions = decisions_of(diagram);
    TransferBound bound;
    bound.amount.ideal = Polynomial{};
    bound.citation = "compulsory traffic: every input is read and every output written once";
    for (std::uint32_t i = 0; i < diagram.arrays.size(); ++i) {
        const Array& array = diagram.arrays[i];
        const bool is_input = array.role == ArrayRole::Input;
        if (!is_input && array.role != ArrayRole::Output) continue;
        if (is_input && !is_read_in_whole(diagram, ArrayId{i})) continue;
        CheckedInt counted = 1;
        std::int64_t cut = 0;
        Formula formula{1};
        for (AxisId axis : array.axes) {
            const std::optional<std::int64_t> count =
                is_input ? needed(diagram, axis, decisions) : diagram[axis].extent;
            const bool whole = count == diagram[axis].extent;
            if (!whole) ++cut;
            formula =
                formula * (whole ? size_formula(diagram.axes, axis) : Formula(count.value_or(0)));
            counted = counted * count.value_or(0);
        }
        if (!counted) return std::nullopt;
        if (cut > 1 || *counted == 0) continue;
        if (!add_values(*counted, array.type, bound.amount)) return std::nullopt;
        bound.amount.formula = bound.amount.formula + formula;
    }
    bound.amount.ideal = idealise(bound.amount.formula);
    return bound;
}

namespace {

/// What a block holds.
constexpr Symbol kMemory{SymbolKind::Memory, Level::Block, {}};

/// The tile sizes that a monomial is divided by or multiplied with, the rest apart.
struct Split {
    Monomial tiles;
    Polynomial rest;
};
Split split_tiles(const Monomial& monomial, Rational coefficient) {
    Split split;
    Monomial rest;
    for (const auto& [symbol, exponent] : monomial)
        (is_tile_size(symbol) ? split.tiles : rest)[symbol] = exponent;
    split.rest = Polynomial{{{rest, coefficient}}};
    return split;
}

bool has_stream(const Monomial& tiles) {
    return std::any_of(tiles.begin(), tiles.end(),
                       [](const auto& power) { return power.first.kind == SymbolKind::Stream; });
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
    for (const auto& [symbol, exponent] : monomial) result[symbol] = rational(-1) * exponent;
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
    return rest + shared->second * held * symbol_polynomial(kMemory, rational(-1));
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
                      symbol_polynomial(kMemory, rational(-1, 2));
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
    SymbolValues values = cost.sizes;
    values[kMemory] = capacity;
    return BestTransfers{evaluate(*best, values), print(*best, cost.names, cost.order),
                         "the continuous limit of small chunks, while the group sizes it asks for "
                         "are between 1 and their axes"};
}

}  // namespace napkin
