// Polynomials as text, in the paper's manner or as arithmetic, and back.
#include <algorithm>
#include <cctype>

#include "diagrams/factor.h"
#include "diagrams/formula.h"
#include "diagrams/formula_parts.h"
#include "diagrams/symbol_names.h"

namespace napkin {

namespace {

enum class Manner { Paper, Arithmetic };

/// A monomial by the names of its symbols.
using Powers = std::map<std::string, Rational>;

std::map<Powers, Rational> named(const Polynomial& polynomial, const SymbolNames& names) {
    std::map<Powers, Rational> result;
    for (const auto& [monomial, coefficient] : polynomial.terms) {
        Powers powers;
        for (const auto& [symbol, exponent] : monomial) powers[names(symbol)] = exponent;
        result[powers] = coefficient;
    }
    return result;
}

/// A term with what decides where it stands.
struct Factors : WrittenTerm {
    Rational degree;
    std::vector<std::size_t> ranks;
};

std::size_t rank_of(const std::string& name, const std::vector<std::string>& order) {
    return static_cast<std::size_t>(std::find(order.begin(), order.end(), name) - order.begin());
}

Factors factors_of(const Powers& powers, Rational coefficient,
                   const std::vector<std::string>& order) {
    Factors result;
    result.coefficient = coefficient;
    for (const auto& [name, exponent] : powers) {
        if (exponent.numerator < 0)
            result.below.emplace_back(name, rational(-1) * exponent);
        else
            result.above.emplace_back(name, exponent);
    }
    const auto earlier = [&](const auto& a, const auto& b) {
        return rank_of(a.first, order) < rank_of(b.first, order);
    };
    std::stable_sort(result.above.begin(), result.above.end(), earlier);
    std::stable_sort(result.below.begin(), result.below.end(), earlier);
    for (const auto& [name, exponent] : result.above) {
        result.degree = result.degree + exponent;
        result.ranks.push_back(rank_of(name, order));
    }
    return result;
}

/// Fewer factors first, then by the first use of their symbols, then fewer divisors.
bool earlier_term(const Factors& a, const Factors& b) {
    if (a.degree != b.degree) return a.degree < b.degree;
    if (a.ranks != b.ranks) return a.ranks < b.ranks;
    if (a.above != b.above)
        return std::lexicographical_compare(
            a.above.begin(), a.above.end(), b.above.begin(), b.above.end(),
            [](const auto& x, const auto& y) { return x.first < y.first; });
    return a.below.size() < b.below.size();
}

std::string power_text(const std::string& name, Rational exponent) {
    if (exponent == Rational{1, 1}) return name;
    if (exponent.denominator == 1) return name + "^" + text_of(exponent);
    return name + "^(" + text_of(exponent) + ")";
}

/// Factors one after another; in the paper's manner single letters and short numbers touch, and
/// what is longer is set apart by a centred dot: `3136k` reads like an amount of some unit.
std::string product(const std::string& number,
                    const std::vector<std::pair<std::string, Rational>>& factors, Manner manner) {
    std::string text = number;
    bool touches = number.size() < 3;
    for (const auto& [name, exponent] : factors) {
        const std::string part = power_text(name, exponent);
        const bool is_letter = part.size() == 1;
        if (!text.empty()) {
            if (manner == Manner::Arithmetic)
                text += "*";
            else if (!touches || (!is_letter && text != number))
                text += "·";
        }
        text += part;
        touches = is_letter;
    }
    return text;
}

/// A term, with `sums` in brackets as further factors.
std::string term_text(const WrittenTerm& factors, Rational size, Manner manner,
                      const std::string& sums = "") {
    const bool shows_number = size.numerator != 1 || (factors.above.empty() && sums.empty());
    std::string text =
        product(shows_number ? std::to_string(size.numerator) : "", factors.above, manner) + sums;
    const bool divides = size.denominator != 1;
    const std::string below =
        product(divides ? std::to_string(size.denominator) : "", factors.below, manner);
    if (below.empty()) return text;
    const bool several = factors.below.size() + (divides ? 1U : 0U) > 1;
    return text + "/" + (several ? "(" + below + ")" : below);
}

std::string text_in(const Polynomial& polynomial, const SymbolNames& names,
                    const std::vector<Symbol>& order, Manner manner) {
    std::string text;
    for (const WrittenTerm& term : terms_of(polynomial, names, order)) {
        const bool negative = term.coefficient.numerator < 0;
        const Rational size = negative ? rational(-1) * term.coefficient : term.coefficient;
        if (text.empty())
            text = negative ? "-" : "";
        else
            text += negative ? " - " : " + ";
        text += term_text(term, size, manner);
    }
    return text.empty() ? "0" : text;
}

/// Recursive descent over `2qd + x*q/(g_q g_g)`: factors that touch are multiplied, products and
/// quotients are read from left to right.
class PolynomialReader {
public:
    PolynomialReader(const std::string& text, const SymbolNames& names,
                     const std::vector<Symbol>& symbols)
        : text_(text) {
        for (const Symbol symbol : symbols) symbols_.emplace_back(names(symbol), symbol);
        std::stable_sort(symbols_.begin(), symbols_.end(), [](const auto& a, const auto& b) {
            return a.first.size() > b.first.size();
        });
    }

    Result<Polynomial> read() {
        std::optional<Polynomial> result = sum();
        skip_blanks();
        if (result && at_ != text_.size()) fail("expected an operator");
        if (!problem_.empty() || !result) {
            Diagnostic error;
            error.code = "E0130";
            error.message =
                problem_ + " at character " + std::to_string(at_ + 1) + " of `" + text_ + "`";
            error.has_place = false;
            return error;
        }
        return *result;
    }

private:
    using Part = std::optional<Polynomial>;

    Part fail(const std::string& problem) {
        if (problem_.empty()) problem_ = problem;
        return std::nullopt;
    }
    void skip_blanks() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
    bool takes(std::string_view token) {
        skip_blanks();
        if (text_.compare(at_, token.size(), token) != 0) return false;
        at_ += token.size();
        return true;
    }
    bool at_factor() {
        skip_blanks();
        return at_ < text_.size() && text_[at_] != ')' && text_[at_] != '+' && text_[at_] != '-';
    }

    Part sum() {
        if (++depth_ > 100) return fail("brackets are nested too deeply");
        Part total = takes("-") ? negated(product()) : product();
        while (total) {
            const bool minus = takes("-");
            if (!minus && !takes("+")) break;
            const Part next = minus ? negated(product()) : product();
            total = next ? Part(*total + *next) : std::nullopt;
        }
        --depth_;
        return total;
    }
    static Part negated(const Part& part) {
        return part ? Part(constant_polynomial(rational(-1)) * *part) : std::nullopt;
    }
    Part product() {
        Part total = factor();
        while (total && at_factor()) {
            const bool divides = takes("/");
            if (!divides && !takes("*")) takes("·");
            const Part next = factor();
            if (!next) return std::nullopt;
            const Part right = divides ? power(*next, rational(-1)) : next;
            if (!right) return fail("only a single term can be divided by");
            total = *total * *right;
        }
        return total;
    }
    Part factor() {
        Part base = atom();
        if (!base || !takes("^")) return base;
        const bool bracketed = takes("(");
        const bool negative = takes("-");
        std::optional<std::int64_t> top = whole_number();
        std::optional<std::int64_t> bottom = 1;
        if (bracketed && takes("/")) bottom = whole_number();
        if (!top || !bottom || *bottom == 0 || (bracketed && !takes(")")))
            return fail("expected an exponent");
        const Part result = power(*base, rational(negative ? -*top : *top, *bottom));
        return result ? result : fail("only a single term can be raised to this power");
    }
    Part atom() {
        skip_blanks();
        if (takes("(")) {
            Part inner = sum();
            return inner && !takes(")") ? fail("expected `)`") : inner;
        }
        if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
            const std::optional<std::int64_t> value = whole_number();
            return value ? Part(constant_polynomial(rational(*value))) : std::nullopt;
        }
        for (const auto& [name, symbol] : symbols_)
            if (!name.empty() && takes(name)) return symbol_polynomial(symbol);
        return fail("expected a number or a known symbol");
    }
    std::optional<std::int64_t> whole_number() {
        skip_blanks();
        const std::size_t begin = at_;
        std::int64_t value = 0;
        while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
            if (at_ - begin >= 18) return fail("the number is too large"), std::nullopt;
            value = value * 10 + (text_[at_++] - '0');
        }
        return at_ == begin ? std::nullopt : std::optional(value);
    }

    std::string text_;
    std::vector<std::pair<std::string, Symbol>> symbols_;
    std::size_t at_ = 0;
    int depth_ = 0;
    std::string problem_;
};

}  // namespace

std::vector<WrittenTerm> terms_of(const Polynomial& polynomial, const SymbolNames& names,
                                  const std::vector<Symbol>& ordered) {
    std::vector<std::string> order;
    for (const Symbol symbol : ordered) order.push_back(names(symbol));
    std::vector<Factors> terms;
    for (const auto& [powers, coefficient] : named(polynomial, names))
        terms.push_back(factors_of(powers, coefficient, order));
    std::stable_sort(terms.begin(), terms.end(), earlier_term);
    // Never first what is taken away, where something is added: g_y + r - 1.
    if (!terms.empty() && terms.front().coefficient.numerator < 0)
        std::stable_partition(terms.begin(), terms.end(), [](const WrittenTerm& term) {
            return term.coefficient.numerator > 0;
        });
    return {terms.begin(), terms.end()};
}

std::string print(const Polynomial& polynomial, const SymbolNames& names,
                  const std::vector<Symbol>& order) {
    return text_in(polynomial, names, order, Manner::Paper);
}

std::string print_factored(const Polynomial& polynomial, const SymbolNames& names,
                           const std::vector<Symbol>& order) {
    const std::vector<Polynomial> factors = factors_of(polynomial);
    if (!is_product(factors)) return print(polynomial, names, order);
    std::string sums;
    for (std::size_t i = 1; i < factors.size(); ++i)
        sums += "(" + print(factors[i], names, order) + ")";
    std::vector<std::string> ordered;
    for (const Symbol symbol : order) ordered.push_back(names(symbol));
    const auto [powers, coefficient] = *named(factors.front(), names).begin();
    const bool negative = coefficient.numerator < 0;
    return (negative ? "-" : "") + term_text(factors_of(powers, coefficient, ordered),
                                             negative ? rational(-1) * coefficient : coefficient,
                                             Manner::Paper, sums);
}

std::string print_arithmetic(const Polynomial& polynomial, const SymbolNames& names,
                             const std::vector<Symbol>& order) {
    return text_in(polynomial, names, order, Manner::Arithmetic);
}

Result<Polynomial> parse_polynomial(const std::string& text, const SymbolNames& names,
                                    const std::vector<Symbol>& symbols) {
    return PolynomialReader(text, names, symbols).read();
}

}  // namespace napkin
