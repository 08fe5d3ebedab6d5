// The least transfers of a region's kind. With small chunks what it holds is c * D bits, D a
// product of group sizes, and what it transfers is `fixed` + the sum of share / g over them (or
// share / D). The optimum over real sizes, none below 1 or above its axis, is in closed form. A
// share may be negative, where groups overlap less the smaller they are: that size is 1 then.
#include <algorithm>
#include <cmath>
#include <vector>

#include "perfmodel/bound.h"

namespace napkin {

namespace {

/// What a block holds.
constexpr Symbol kMemory{SymbolKind::Memory, Level::Block, {}};

/// Coefficients by product of tile sizes.
using ByTiles = std::map<Monomial, Polynomial>;
ByTiles by_tiles(const Polynomial& polynomial) {
    ByTiles result;
    for (const auto& [monomial, coefficient] : polynomial.terms) {
        Monomial tiles;
        Monomial rest;
        for (const auto& [symbol, exponent] : monomial)
            (is_tile_size(symbol) ? tiles : rest)[symbol] = exponent;
        result[tiles] = result[tiles] + Polynomial{{{rest, coefficient}}};
    }
    return result;
}

bool has_stream(const Monomial& tiles) {
    return std::any_of(tiles.begin(), tiles.end(),
                       [](const auto& power) { return power.first.kind == SymbolKind::Stream; });
}

Monomial inverse(const Monomial& monomial) {
    Monomial result;
    for (const auto& [symbol, exponent] : monomial) result[symbol] = rational(-1) * exponent;
    return result;
}

std::optional<TransferKind> kind_in(const Polynomial& transferred, const Polynomial& memory) {
    ByTiles held = by_tiles(memory);
    std::erase_if(held, [](const auto& entry) { return has_stream(entry.first); });
    if (held.size() != 1 || held.begin()->first.empty()) return std::nullopt;
    TransferKind kind{held.begin()->first, held.begin()->second, {}, {}, {}};
    for (const auto& [symbol, exponent] : kind.groups)
        if (exponent != Rational{1, 1}) return std::nullopt;
    for (const auto& [tiles, coefficient] : by_tiles(transferred)) {
        if (tiles.empty())
            kind.fixed = coefficient;
        else if (tiles == inverse(kind.groups))
            kind.share_of_product = coefficient;
        else if (tiles.size() == 1 && tiles.begin()->second == Rational{-1, 1} &&
                 kind.groups.contains(tiles.begin()->first))
            kind.shares[tiles.begin()->first] = coefficient;
        else
            return std::nullopt;
    }
    const bool is_square = kind.groups.size() == 2 && kind.shares.size() == 2;
    if (kind.share_of_product.has_value() == is_square) return std::nullopt;
    return kind;
}

/// The optimum where no group size reaches its axis; nullopt where its root is no polynomial.
std::optional<Polynomial> free_optimum(const TransferKind& kind) {
    if (kind.share_of_product)
        return kind.fixed +
               *kind.share_of_product * kind.held * symbol_polynomial(kMemory, rational(-1));
    const Polynomial& first = kind.shares.begin()->second;
    const std::optional<Polynomial> root =
        power(first * kind.shares.rbegin()->second * kind.held, rational(1, 2));
    if (!root) return std::nullopt;
    return kind.fixed +
           constant_polynomial(rational(2)) * *root * symbol_polynomial(kMemory, rational(-1, 2));
}

/// The optimum in numbers.
struct Optimum {
    double transferred = 0;
    std::vector<std::pair<Symbol, double>> sizes;  ///< of groups; of a product the first has it all
    bool is_free = true;                           ///< no size is that of its axis
};

Optimum optimum_of(const TransferKind& kind, double product, const SymbolValues& sizes) {
    const auto whole = [&](Symbol group) {
        return static_cast<double>(sizes.at(axis_size(group.axis)));
    };
    Optimum best;
    best.transferred = evaluate(kind.fixed, sizes);
    double largest = 1;
    for (const auto& [group, exponent] : kind.groups) largest *= whole(group);
    best.is_free = product <= largest;
    product = std::min(product, largest);
    if (kind.share_of_product) {
        const double share = evaluate(*kind.share_of_product, sizes);
        if (share < 0) {
            best.is_free = false;
            product = 1;
        }
        best.transferred += share / product;
        best.sizes = {{kind.groups.begin()->first, product}};
        return best;
    }
    const auto& [first, first_share] = *kind.shares.begin();
    const auto& [second, second_share] = *kind.shares.rbegin();
    const double along_first = evaluate(first_share, sizes);
    const double along_second = evaluate(second_share, sizes);
    if (along_first < 0 || along_second < 0) {
        const auto size = [&](double share, Symbol group) {
            return share < 0 ? 1.0 : std::max(1.0, std::min(whole(group), product));
        };
        best.is_free = false;
        best.sizes = {{first, size(along_first, first)}, {second, size(along_second, second)}};
        best.transferred +=
            along_first / best.sizes[0].second + along_second / best.sizes[1].second;
        return best;
    }
    const double wanted = std::sqrt(product * along_first / along_second);
    const double g = std::clamp(wanted, std::max(1.0, product / whole(second)),
                                std::max(1.0, std::min(whole(first), product)));
    best.is_free = best.is_free && g == wanted;
    best.transferred += along_first / g + along_second / (product / g);
    best.sizes = {{first, g}, {second, product / g}};
    return best;
}

std::string sizes_text(const RegionCost& cost, const TransferKind& kind, const Optimum& best) {
    std::string text;
    for (const auto& [group, size] : best.sizes) {
        std::string name = cost.names(group);
        for (const auto& [other, exponent] : kind.groups)
            if (kind.share_of_product && other != group) name += "·" + cost.names(other);
        text += (text.empty() ? "" : ", ") + name + " = " +
                std::to_string(static_cast<std::int64_t>(size));
    }
    return text;
}

}  // namespace

std::variant<TransferKind, NotApplicable> kind_of(const RegionCost& cost) {
    if (cost.chunks_visited < cost.chunks)
        return NotApplicable{"its mask leaves chunks out, which no closed form counts", ""};
    const LevelCost& block = cost.levels.at(Level::Block);
    std::optional<TransferKind> kind;
    if (block.transferred.ideal_bits && block.memory.ideal_bits)
        kind = kind_in(*block.transferred.ideal_bits, *block.memory.ideal_bits);
    if (!kind) {
        const bool tiled = std::any_of(cost.sizes.begin(), cost.sizes.end(),
                                       [](const auto& size) { return is_tile_size(size.first); });
        return NotApplicable{
            tiled ? "its transfers are neither a matmul's nor of one product of group sizes"
                  : "it has no groups whose sizes could be better",
            "group what its outputs keep, and stream what they do not"};
    }
    // A group or chunk beyond its axis is the axis.
    auto sizes = cost.sizes;
    for (auto& [symbol, size] : sizes)
        if (const auto axis = sizes.find(axis_size(symbol.axis));
            is_tile_size(symbol) && axis != sizes.end())
            size = std::min(size, axis->second);
    if (evaluate(*block.transferred.ideal_bits, sizes) >
        static_cast<double>(block.transferred.bits) * (1 + 1e-9))
        return NotApplicable{"its tiles are cut off at borders, which no closed form counts", ""};
    for (const auto& [group, exponent] : kind->groups)
        if (cost.formulas.open.contains(group))
            return NotApplicable{
                "at other sizes of `" + cost.names(group) + "` its transfers are of another form",
                ""};
    return *std::move(kind);
}

std::variant<BestTransfers, NotApplicable> best_of(const RegionCost& cost, Bytes capacity) {
    const auto found = kind_of(cost);
    if (const NotApplicable* reason = std::get_if<NotApplicable>(&found)) return *reason;
    const TransferKind& kind = std::get<TransferKind>(found);
    const double product = 8 * capacity.value / evaluate(kind.held, cost.sizes);
    if (product < 1) return NotApplicable{"not even groups of 1 fit the capacity", ""};
    const Optimum best = optimum_of(kind, product, cost.sizes);
    const LevelCost& block = cost.levels.at(Level::Block);
    const std::optional<TransferKind> in_values =
        block.transferred.ideal && block.memory.ideal
            ? kind_in(*block.transferred.ideal, *block.memory.ideal)
            : std::nullopt;
    const std::optional<Polynomial> form =
        in_values && best.is_free ? free_optimum(*in_values) : std::nullopt;
    return BestTransfers{best.transferred,
                         print(form ? *form : *block.transferred.ideal, cost.names, cost.order),
                         form, "in the limit of small chunks, at " + sizes_text(cost, kind, best)};
}

}  // namespace napkin
