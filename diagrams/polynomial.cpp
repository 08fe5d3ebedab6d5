// Polynomials with rational coefficients and exponents, and how an exact formula becomes one.
#include <cmath>

#include "diagrams/formula.h"
#include "diagrams/formula_parts.h"
#include "diagrams/symbol_names.h"

namespace napkin {

namespace {

void add_term(Polynomial& polynomial, const Monomial& monomial, Rational coefficient) {
    Rational& present = polynomial.terms[monomial];
    present = present + coefficient;
    if (present.numerator == 0) polynomial.terms.erase(monomial);
}

Monomial multiply(const Monomial& a, const Monomial& b) {
    Monomial result = a;
    for (const auto& [symbol, exponent] : b) {
        Rational& present = result[symbol];
        present = present + exponent;
        if (present.numerator == 0) result.erase(symbol);
    }
    return result;
}

/// A value to a whole power; nullopt on overflow or where zero is divided by.
std::optional<Rational> whole_power(Rational base, std::int64_t exponent) {
    std::optional<Rational> result = Rational{1, 1};
    for (std::int64_t i = 0; result && i < std::abs(exponent); ++i)
        result = exponent < 0 ? checked_divide(*result, base) : checked_multiply(*result, base);
    return result;
}

}  // namespace

Polynomial constant_polynomial(Rational value) {
    Polynomial result;
    add_term(result, {}, value);
    return result;
}

Polynomial symbol_polynomial(Symbol symbol, Rational exponent) {
    if (exponent.numerator == 0) return constant_polynomial(rational(1));
    return {{{{{symbol, exponent}}, rational(1)}}};
}

Polynomial operator+(const Polynomial& a, const Polynomial& b) {
    Polynomial result = a;
    for (const auto& [monomial, coefficient] : b.terms) add_term(result, monomial, coefficient);
    return result;
}

Polynomial operator-(const Polynomial& a, const Polynomial& b) {
    return a + constant_polynomial(rational(-1)) * b;
}

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
    Polynomial result;
    for (const auto& [left, left_coefficient] : a.terms)
        for (const auto& [right, right_coefficient] : b.terms)
            add_term(result, multiply(left, right), left_coefficient * right_coefficient);
    return result;
}

std::optional<Polynomial> power(const Polynomial& base, Rational exponent) {
    if (base.terms.size() != 1) return std::nullopt;
    const auto& [monomial, coefficient] = *base.terms.begin();
    const bool whole = exponent.denominator == 1;
    if (!whole && coefficient != Rational{1, 1}) return std::nullopt;
    std::optional<Rational> scale = coefficient;
    if (coefficient != Rational{1, 1}) scale = whole_power(coefficient, exponent.numerator);
    if (!scale) return std::nullopt;
    Monomial result;
    for (const auto& [symbol, inner] : monomial) result[symbol] = inner * exponent;
    if (exponent.numerator == 0) result.clear();
    return Polynomial{{{result, *scale}}};
}

double evaluate(const Polynomial& polynomial, const SymbolValues& values) {
    double total = 0;
    for (const auto& [monomial, coefficient] : polynomial.terms) {
        double term = to_double(coefficient);
        for (const auto& [symbol, exponent] : monomial) {
            const auto found = values.find(symbol);
            invariant(found != values.end(), "no value for the symbol `", SymbolNames()(symbol),
                      "`");
            term *= std::pow(static_cast<double>(found->second), to_double(exponent));
        }
        total += term;
    }
    return total;
}

std::optional<Polynomial> substitute(const Polynomial& polynomial, Symbol symbol,
                                     std::int64_t value) {
    Polynomial result;
    for (const auto& [powers, scale] : polynomial.terms) {
        Monomial monomial = powers;
        Rational coefficient = scale;
        const Monomial::const_iterator found = monomial.find(symbol);
        if (found != monomial.end()) {
            if (found->second.denominator != 1) return std::nullopt;
            const std::optional<Rational> factor = whole_power({value, 1}, found->second.numerator);
            const std::optional<Rational> scaled =
                factor ? checked_multiply(coefficient, *factor) : std::nullopt;
            if (!scaled) return std::nullopt;
            coefficient = *scaled;
            monomial.erase(found);
        }
        add_term(result, monomial, coefficient);
    }
    return result;
}

}  // namespace napkin
