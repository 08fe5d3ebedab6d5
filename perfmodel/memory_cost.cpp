#include "perfmodel/memory_cost.h"

#include <algorithm>
#include <set>

#include "diagrams/checked.h"

namespace napkin {

namespace {

bool divides(const Monomial& a, const Monomial& b) {
    if (a == b) return false;
    for (const auto& [symbol, exponent] : a) {
        const auto found = b.find(symbol);
        if (found == b.end() || found->second < exponent) return false;
    }
    return true;
}

bool has_whole_axis(const Monomial& monomial) {
    return std::any_of(monomial.begin(), monomial.end(),
                       [](const auto& power) { return !is_tile_size(power.first); });
}

using VariableSet = std::vector<VariableId>;

/// The sets that no other one contains, of variables of one level.
std::vector<VariableSet> largest_sets(const RegionProgram& region, std::vector<VariableSet> sets,
                                      Level level) {
    for (VariableSet& set : sets)
        std::erase_if(set,
                      [&](VariableId id) { return region.variables[id.index()].level != level; });
    std::vector<VariableSet> kept;
    for (const VariableSet& set : sets) {
        const auto contains = [&](const VariableSet& other) {
            return std::includes(other.begin(), other.end(), set.begin(), set.end());
        };
        if (std::any_of(kept.begin(), kept.end(), contains)) continue;
        std::erase_if(kept, [&](const VariableSet& other) {
            return std::includes(set.begin(), set.end(), other.begin(), other.end());
        });
        kept.push_back(set);
    }
    return kept;
}

/// What each of these sets holds; nullopt on overflow.
std::optional<std::vector<Amount>> all_held(const RegionProgram& region,
                                            const std::vector<VariableSet>& sets, Level level) {
    std::vector<Amount> columns;
    for (const VariableSet& set : largest_sets(region, sets, level)) {
        std::optional<Amount> held = held_by(region, set, level);
        if (!held) return std::nullopt;
        columns.push_back(std::move(*held));
    }
    return columns;
}

/// Ideal forms are those of the largest.
Amount most_of(const std::vector<Amount>& columns) {
    if (columns.empty()) return {};
    const auto fewer = [](const Amount& a, const Amount& b) { return a.values < b.values; };
    Amount most = *std::max_element(columns.begin(), columns.end(), fewer);
    for (const Amount& column : columns) {
        most.formula = max_of(most.formula, column.formula);
        most.bit_formula = max_of(most.bit_formula, column.bit_formula);
        most.bits = std::max(most.bits, column.bits);
    }
    return most;
}

}  // namespace

Polynomial leading_terms(const Polynomial& polynomial) {
    Polynomial kept;
    const bool whole = std::any_of(polynomial.terms.begin(), polynomial.terms.end(),
                                   [](const auto& term) { return has_whole_axis(term.first); });
    for (const auto& [monomial, coefficient] : polynomial.terms) {
        const auto larger = [&m = monomial](const auto& other) { return divides(m, other.first); };
        if (std::any_of(polynomial.terms.begin(), polynomial.terms.end(), larger)) continue;
        if (whole && !has_whole_axis(monomial)) continue;
        kept.terms[monomial] = coefficient;
    }
    return kept;
}

std::optional<Amount> held_by(const RegionProgram& region, const std::vector<VariableId>& variables,
                              Level level) {
    Amount total;
    total.ideal = Polynomial{};
    total.ideal_bits = Polynomial{};
    for (VariableId id : variables) {
        const Variable& variable = region.variables[id.index()];
        if (variable.level != level) continue;
        CheckedInt values = 1;
        Formula formula{1};
        for (std::size_t k = 0; k < variable.capacity.size(); ++k) {
            formula = formula * variable.capacity[k];
            values = values * variable.capacity_extent[k];
        }
        if (!values || !add_values(*values, formula, variable.type, total)) return std::nullopt;
        const std::optional<Polynomial> ideal = idealise(formula);
        const std::optional<Polynomial> bits = in_bits(ideal, variable.type);
        total.ideal = total.ideal && ideal ? std::optional(*total.ideal + *ideal) : std::nullopt;
        total.ideal_bits =
            total.ideal_bits && bits ? std::optional(*total.ideal_bits + *bits) : std::nullopt;
    }
    return total;
}

std::optional<Polynomial> in_bits(const std::optional<Polynomial>& values, ElementType type) {
    if (!values) return std::nullopt;
    return *values * constant_polynomial(rational(bits_of(type)));
}

Amount leading_most_of(const std::vector<Amount>& columns, const SymbolValues& sizes) {
    Amount most = most_of(columns);
    for (const auto form : {&Amount::ideal, &Amount::ideal_bits}) {
        double most_leading = -1;
        bool lacks_terms = false;
        for (const Amount& column : columns) {
            if (!(column.*form)) continue;
            Polynomial leading = leading_terms(*(column.*form));
            const double size = evaluate(leading, sizes);
            const bool lacks = leading.terms.size() < (column.*form)->terms.size();
            if (size > most_leading) {
                most_leading = size;
                lacks_terms = lacks;
                most.*form = std::move(leading);
            } else if (leading == *(most.*form)) {
                lacks_terms = lacks_terms || lacks;
            }
        }
        if (form == &Amount::ideal) most.leads = lacks_terms;
    }
    return most;
}

bool add_memory(const RegionProgram& region, const std::vector<Moment>& moments, RegionCost& cost) {
    std::set<Level> levels{Level::Block};
    for (const Variable& variable : region.variables) levels.insert(variable.level);
    std::vector<VariableSet> during;
    std::vector<VariableSet> between;
    for (const Moment& moment : moments) {
        during.push_back(moment.during);
        between.push_back(moment.after);
    }
    for (Level level : levels) {
        const std::optional<std::vector<Amount>> allocated = all_held(region, during, level);
        const std::optional<std::vector<Amount>> memory = all_held(region, between, level);
        if (!allocated || !memory) return false;
        cost.levels[level].allocated = most_of(*allocated);
        cost.levels[level].memory = leading_most_of(*memory, cost.sizes);
    }
    return true;
}

namespace {

std::optional<std::int64_t> most_bits(const RegionProgram& region, Level level,
                                      std::vector<VariableId> Moment::*held) {
    std::int64_t most = 0;
    for (const Moment& moment : liveness(region)) {
        CheckedInt sum = 0;
        for (VariableId id : moment.*held) {
            const Variable& variable = region.variables[id.index()];
            if (variable.level != level) continue;
            CheckedInt bits = bits_of(variable.type);
            for (std::int64_t extent : variable.capacity_extent) bits = bits * extent;
            sum = sum + bits;
        }
        if (!sum) return std::nullopt;
        most = std::max(most, *sum);
    }
    return most;
}

}  // namespace

std::optional<std::int64_t> allocated_bits(const RegionProgram& region, Level level) {
    return most_bits(region, level, &Moment::during);
}

std::optional<std::int64_t> memory_bits(const RegionProgram& region, Level level) {
    return most_bits(region, level, &Moment::after);
}

}  // namespace napkin
