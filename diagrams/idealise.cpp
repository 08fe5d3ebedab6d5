// The ideal form of an exact formula, and equality of sizes by polynomial normal form.
#include <algorithm>
#include <functional>

#include "diagrams/formula.h"

namespace napkin {

namespace {

using Form = std::optional<Polynomial>;

Form combine(const Formula& formula, const std::function<Form(const Formula&)>& form_of) {
    const bool adds = formula.op == FormulaOp::Add;
    Polynomial result = constant_polynomial(rational(adds ? 0 : 1));
    for (const Formula& arg : formula.args) {
        const Form part = form_of(arg);
        if (!part) return std::nullopt;
        result = adds ? result + *part : result * *part;
    }
    return result;
}

Form quotient(const Form& numerator, const Form& denominator) {
    if (!numerator || !denominator) return std::nullopt;
    const Form inverse = power(*denominator, rational(-1));
    return inverse ? Form(*numerator * *inverse) : std::nullopt;
}

bool mentions(const Polynomial& polynomial, Symbol symbol) {
    return std::any_of(polynomial.terms.begin(), polynomial.terms.end(),
                       [&](const auto& term) { return term.first.contains(symbol); });
}

bool is_tile(const Polynomial& polynomial) {
    if (polynomial.terms.size() != 1) return false;
    const Monomial& monomial = polynomial.terms.begin()->first;
    return !monomial.empty() &&
           std::all_of(monomial.begin(), monomial.end(),
                       [](const auto& power) { return is_tile_size(power.first); });
}

/// sum over i = 0..n of i^power as a polynomial in n (Faulhaber).
Form power_sum(const Polynomial& n, std::int64_t exponent) {
    const Polynomial one = constant_polynomial(rational(1));
    const Polynomial next = n + one;
    switch (exponent) {
    case 0: return next;
    case 1: return constant_polynomial(rational(1, 2)) * n * next;
    case 2: return constant_polynomial(rational(1, 6)) * n * next * (n + next);
    case 3: return constant_polynomial(rational(1, 4)) * n * n * next * next;
    default: return std::nullopt;
    }
}

/// The sum over `index` from low to high of a polynomial in it.
Form sum_of(const Polynomial& term, Symbol index, const Polynomial& low, const Polynomial& high) {
    Polynomial total;
    for (const auto& [monomial, coefficient] : term.terms) {
        Monomial rest = monomial;
        Rational exponent;
        if (const auto found = rest.find(index); found != rest.end()) {
            exponent = found->second;
            rest.erase(found);
        }
        if (exponent.denominator != 1) return std::nullopt;
        const Form upto = power_sum(high, exponent.numerator);
        const Form before = power_sum(low - constant_polynomial(rational(1)), exponent.numerator);
        if (!upto || !before) return std::nullopt;
        total = total + Polynomial{{{rest, coefficient}}} * (*upto - *before);
    }
    return total;
}

/// A last tile's `min(g, q - i*g)` is taken as g; the index that marks it is bound by a Sum around.
Form least(const Formula& formula) {
    std::vector<Polynomial> forms;
    for (const Formula& arg : formula.args) {
        const Form form = idealise(arg);
        if (form) forms.push_back(*form);
    }
    if (forms.empty()) return std::nullopt;
    const auto tile = std::find_if(forms.begin(), forms.end(), is_tile);
    if (tile != forms.end()) return *tile;
    const bool same = forms.size() == formula.args.size() &&
                      std::all_of(forms.begin(), forms.end(),
                                  [&](const Polynomial& form) { return form == forms.front(); });
    return same ? Form(forms.front()) : std::nullopt;
}

Form greatest(const Formula& formula) {
    std::vector<Polynomial> forms;
    for (const Formula& arg : formula.args) {
        const Form form = idealise(arg);
        if (!form) return std::nullopt;
        if (std::find(forms.begin(), forms.end(), *form) == forms.end()) forms.push_back(*form);
    }
    // max(0, count) guards a count that is never negative where sizes divide.
    std::erase(forms, Polynomial{});
    if (forms.empty()) return Polynomial{};
    return forms.size() == 1 ? Form(forms.front()) : std::nullopt;
}

Form ideal_sum(const Formula& formula) {
    const Form low = idealise(formula.args[0]);
    const Form high = idealise(formula.args[1]);
    const Form term = idealise(formula.args[2]);
    if (!low || !high || !term) return std::nullopt;
    if (mentions(*low, formula.symbol) || mentions(*high, formula.symbol)) return std::nullopt;
    return sum_of(*term, formula.symbol, *low, *high);
}

/// Polynomial normal forms in which every part that is no polynomial is numbered by its own normal
/// form.
class NormalForms {
public:
    Polynomial of(const Formula& formula) {
        switch (formula.op) {
        case FormulaOp::Constant: return constant_polynomial(formula.constant);
        case FormulaOp::Symbol: return symbol_polynomial(formula.symbol);
        case FormulaOp::Add:
        case FormulaOp::Multiply:
            return *combine(formula, [&](const Formula& arg) { return of(arg); });
        default: break;
        }
        Part part{formula.op, formula.symbol, {}};
        for (const Formula& arg : formula.args) part.args.push_back(of(arg));
        if (formula.op == FormulaOp::Divide)
            if (const Form exact = quotient(part.args[0], part.args[1])) return *exact;
        if (formula.op == FormulaOp::Min || formula.op == FormulaOp::Max)
            std::sort(part.args.begin(), part.args.end(),
                      [](const auto& a, const auto& b) { return a.terms < b.terms; });
        const auto known = std::find(parts_.begin(), parts_.end(), part);
        const auto number = static_cast<std::uint32_t>(known - parts_.begin());
        if (known == parts_.end()) parts_.push_back(std::move(part));
        return symbol_polynomial({SymbolKind::Part, Level::Block, {}, number});
    }

private:
    struct Part {
        FormulaOp op;
        Symbol index;  ///< of a sum
        std::vector<Polynomial> args;
        bool operator==(const Part&) const = default;
    };
    std::vector<Part> parts_;
};

}  // namespace

std::optional<Polynomial> idealise(const Formula& formula) {
    switch (formula.op) {
    case FormulaOp::Constant: return constant_polynomial(formula.constant);
    case FormulaOp::Symbol: return symbol_polynomial(formula.symbol);
    case FormulaOp::Add:
    case FormulaOp::Multiply: return combine(formula, idealise);
    case FormulaOp::Divide:
    case FormulaOp::FloorDivide:
    case FormulaOp::CeilDivide:
        return quotient(idealise(formula.args[0]), idealise(formula.args[1]));
    case FormulaOp::Modulo: return Polynomial{};
    case FormulaOp::Min: return least(formula);
    case FormulaOp::Max: return greatest(formula);
    case FormulaOp::LessEqual: return std::nullopt;
    case FormulaOp::Sum: return ideal_sum(formula);
    }
    return std::nullopt;
}

bool provably_equal(const Formula& a, const Formula& b) {
    if (a == b) return true;
    NormalForms forms;
    return forms.of(a) == forms.of(b);
}

}  // namespace napkin
