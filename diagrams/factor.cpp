#include "diagrams/factor.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace napkin {

namespace {

constexpr std::size_t kMostSymbols = 10;  // of a sum that is taken apart: every half is tried

Polynomial single(const Monomial& monomial, Rational coefficient) {
    return {{{monomial, coefficient}}};
}

/// What every term has: the least power of each symbol and the common divisor of the numbers.
Polynomial content_of(const Polynomial& polynomial) {
    std::optional<Monomial> common;
    std::int64_t above = 0;
    std::int64_t below = 1;
    for (const auto& [monomial, coefficient] : polynomial.terms) {
        above = std::gcd(above, coefficient.numerator);
        below = std::lcm(below, coefficient.denominator);
        if (!common) {
            common = monomial;
            continue;
        }
        std::set<Symbol> symbols;
        for (const auto& [symbol, power] : *common) symbols.insert(symbol);
        for (const auto& [symbol, power] : monomial) symbols.insert(symbol);
        Monomial least;
        for (const Symbol symbol : symbols) {
            const auto power_in = [&](const Monomial& in) {
                const auto found = in.find(symbol);
                return found == in.end() ? Rational{} : found->second;
            };
            const Rational a = power_in(*common);
            const Rational b = power_in(monomial);
            const Rational power = a < b ? a : b;
            if (power != Rational{}) least[symbol] = power;
        }
        common = std::move(least);
    }
    return single(common.value_or(Monomial{}), rational(above, below));
}

/// The powers of some symbols, and those of the others.
std::pair<Monomial, Monomial> split(const Monomial& monomial, const std::set<Symbol>& symbols) {
    std::pair<Monomial, Monomial> parts;
    for (const auto& [symbol, power] : monomial)
        (symbols.count(symbol) != 0 ? parts.first : parts.second)[symbol] = power;
    return parts;
}

/// The polynomial as a product of one over these symbols and one over the others.
std::optional<std::pair<Polynomial, Polynomial>> split(const Polynomial& polynomial,
                                                       const std::set<Symbol>& symbols) {
    const auto& [monomial, coefficient] = *polynomial.terms.begin();
    const auto [inner, outer] = split(monomial, symbols);
    Polynomial first;
    Polynomial second;
    for (const auto& [other, value] : polynomial.terms) {
        const auto [mine, theirs] = split(other, symbols);
        if (theirs == outer) first.terms[mine] = value;
        if (mine == inner) second.terms[theirs] = value / coefficient;
    }
    if (first.terms.size() < 2 || second.terms.size() < 2 || first * second != polynomial)
        return std::nullopt;
    return std::pair(std::move(first), std::move(second));
}

void take_apart(const Polynomial& sum, std::vector<Polynomial>& factors) {
    std::set<Symbol> all;
    for (const auto& [monomial, coefficient] : sum.terms)
        for (const auto& [symbol, power] : monomial) all.insert(symbol);
    const std::vector<Symbol> symbols(all.begin(), all.end());
    const bool may_split = sum.terms.size() >= 4 && symbols.size() >= 2;
    const std::size_t halves =
        may_split && symbols.size() <= kMostSymbols ? std::size_t{1} << (symbols.size() - 1) : 1;
    for (std::size_t half = 0; half + 1 < halves; ++half) {
        std::set<Symbol> with_first{symbols[0]};
        for (std::size_t i = 1; i < symbols.size(); ++i)
            if ((half >> (i - 1) & 1U) != 0) with_first.insert(symbols[i]);
        if (const auto found = split(sum, with_first)) {
            take_apart(found->first, factors);
            take_apart(found->second, factors);
            return;
        }
    }
    factors.push_back(sum);
}

/// Whether more terms are taken away than added.
bool is_mostly_negative(const Polynomial& sum) {
    std::ptrdiff_t balance = 0;
    for (const auto& [monomial, coefficient] : sum.terms)
        balance += coefficient.numerator < 0 ? -1 : 1;
    return balance < 0;
}

}  // namespace

std::vector<Polynomial> factors_of(const Polynomial& polynomial) {
    if (polynomial.terms.size() < 2) return {polynomial};
    const Polynomial content = content_of(polynomial);
    const std::optional<Polynomial> inverse = power(content, rational(-1));
    invariant(inverse.has_value(), "a single term has an inverse");
    std::vector<Polynomial> factors{content};
    take_apart(polynomial * *inverse, factors);
    for (std::size_t i = 1; i < factors.size(); ++i) {
        Polynomial own = content_of(factors[i]);
        if (is_mostly_negative(factors[i])) own = constant_polynomial(rational(-1)) * own;
        factors[i] = factors[i] * *power(own, rational(-1));
        factors[0] = factors[0] * own;
    }
    return factors;
}

bool is_product(const std::vector<Polynomial>& factors) {
    return factors.size() > 2 ||
           (factors.size() == 2 && factors[0] != constant_polynomial(rational(1)));
}

namespace {

/// Equal parts are one, so many times.
std::vector<Polynomial> together(const std::vector<Polynomial>& parts) {
    std::vector<Polynomial> kinds;
    std::vector<Polynomial> sums;
    for (const Polynomial& part : parts) {
        const auto same = std::find(kinds.begin(), kinds.end(), part);
        if (same == kinds.end()) {
            kinds.push_back(part);
            sums.push_back(part);
        } else {
            Polynomial& total = sums[static_cast<std::size_t>(same - kinds.begin())];
            total = total + part;
        }
    }
    return sums;
}

}  // namespace

SumInParts in_parts(const Polynomial& sum, const std::vector<Polynomial>& parts) {
    SumInParts result{sum, {}};
    for (const Polynomial& part : together(parts)) {
        Polynomial& rest = result.rest;
        Polynomial without = rest - part;
        // A part whose terms have met others' is no longer to be seen, unless most of them go.
        const bool apart = without.terms.size() + part.terms.size() == rest.terms.size();
        if (!is_product(factors_of(part)) ||
            (!apart && without.terms.size() + 2 >= rest.terms.size()))
            continue;
        rest = std::move(without);
        result.products.push_back(part);
    }
    return result;
}

std::string print_in_parts(const Polynomial& sum, const std::vector<Polynomial>& parts,
                           const SymbolNames& names, const std::vector<Symbol>& order) {
    const auto [rest, products] = in_parts(sum, parts);
    std::string text;
    if (products.empty() || !rest.terms.empty()) text = print(rest, names, order);
    for (const Polynomial& product : products)
        text += (text.empty() ? "" : " + ") + print_factored(product, names, order);
    return text;
}

}  // namespace napkin
