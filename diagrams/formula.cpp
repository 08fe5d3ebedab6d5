// Building and evaluating exact formulas. The constructors keep sums and products flat, gather
// equal terms and fold constants; they rely on symbols standing for sizes, which are never
// negative.
#include "diagrams/formula.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "diagrams/formula_parts.h"

namespace napkin {

namespace {

Formula constant(Rational value) {
    Formula result;
    result.constant = value;
    return result;
}

Formula node(FormulaOp op, std::vector<Formula> args) {
    Formula result;
    result.op = op;
    result.args = std::move(args);
    return result;
}

bool is_constant(const Formula& formula) {
    return formula.op == FormulaOp::Constant;
}
bool is_value(const Formula& formula, std::int64_t value) {
    return is_constant(formula) && formula.constant == Rational{value, 1};
}

/// Whether every value it takes is an integer, as far as its shape tells.
bool is_integral(const Formula& formula) {
    switch (formula.op) {
    case FormulaOp::Constant: return formula.constant.denominator == 1;
    case FormulaOp::Divide: return false;
    case FormulaOp::FloorDivide:
    case FormulaOp::CeilDivide:
    case FormulaOp::LessEqual:
    case FormulaOp::Symbol: return true;
    case FormulaOp::Sum: return is_integral(formula.args[2]);
    default: return std::all_of(formula.args.begin(), formula.args.end(), is_integral);
    }
}

/// Whether it is never negative, as far as its shape tells.
bool is_nonnegative(const Formula& formula) {
    switch (formula.op) {
    case FormulaOp::Constant: return formula.constant.numerator >= 0;
    case FormulaOp::Symbol:
    case FormulaOp::LessEqual:
    case FormulaOp::Modulo: return true;
    case FormulaOp::Sum: return is_nonnegative(formula.args[2]);
    case FormulaOp::Max:
        return std::any_of(formula.args.begin(), formula.args.end(), is_nonnegative);
    default: return std::all_of(formula.args.begin(), formula.args.end(), is_nonnegative);
    }
}

/// A term of a sum or a factor's product, apart from its constant coefficient.
struct Term {
    Rational coefficient;
    std::vector<Formula> factors;
};

Term term_of(const Formula& formula) {
    if (is_constant(formula)) return {formula.constant, {}};
    if (formula.op != FormulaOp::Multiply) return {rational(1), {formula}};
    Term term{rational(1), {}};
    for (const Formula& factor : formula.args) {
        if (is_constant(factor))
            term.coefficient = term.coefficient * factor.constant;
        else
            term.factors.push_back(factor);
    }
    return term;
}

Formula formula_of(Term term) {
    if (term.coefficient.numerator == 0) return constant({0, 1});
    if (term.factors.empty()) return constant(term.coefficient);
    const bool plain = term.coefficient == Rational{1, 1};
    if (plain && term.factors.size() == 1) return term.factors.front();
    if (!plain) term.factors.insert(term.factors.begin(), constant(term.coefficient));
    return node(FormulaOp::Multiply, std::move(term.factors));
}

void add_terms(std::vector<Term>& terms, const Formula& formula) {
    if (formula.op == FormulaOp::Add) {
        for (const Formula& arg : formula.args) add_terms(terms, arg);
        return;
    }
    Term term = term_of(formula);
    for (Term& present : terms) {
        if (present.factors != term.factors) continue;
        present.coefficient = present.coefficient + term.coefficient;
        return;
    }
    terms.push_back(std::move(term));
}

/// Some order of factors, so that equal products are equal values.
bool less(const Formula& a, const Formula& b) {
    const auto key = [](const Formula& formula) {
        return std::tuple(formula.op, formula.symbol, formula.constant.numerator,
                          formula.constant.denominator);
    };
    if (key(a) != key(b)) return key(a) < key(b);
    return std::lexicographical_compare(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(),
                                        less);
}

Formula divided(FormulaOp op, const Formula& a, const Formula& b) {
    if (is_constant(a) && is_constant(b)) {
        if (const std::optional<Rational> quotient = checked_divide(a.constant, b.constant)) {
            if (op == FormulaOp::Divide) return constant(*quotient);
            return {op == FormulaOp::FloorDivide ? floor_of(*quotient) : ceil_of(*quotient)};
        }
    }
    if (is_value(b, 1) && (op == FormulaOp::Divide || is_integral(a))) return a;
    if (is_value(a, 0)) return a;
    return node(op, {a, b});
}

Formula extreme(FormulaOp op, const Formula& a, const Formula& b) {
    std::vector<Formula> args;
    for (const Formula* side : {&a, &b}) {
        if (side->op == op)
            args.insert(args.end(), side->args.begin(), side->args.end());
        else
            args.push_back(*side);
    }
    std::optional<Rational> folded;
    std::vector<Formula> kept;
    for (const Formula& arg : args) {
        if (is_constant(arg)) {
            const bool takes =
                !folded || (op == FormulaOp::Min ? arg.constant < *folded : *folded < arg.constant);
            if (takes) folded = arg.constant;
        } else if (std::find(kept.begin(), kept.end(), arg) == kept.end()) {
            kept.push_back(arg);
        }
    }
    const bool all_nonnegative = std::all_of(kept.begin(), kept.end(), is_nonnegative);
    if (folded && !kept.empty() && op == FormulaOp::Max && folded->numerator <= 0 &&
        std::any_of(kept.begin(), kept.end(), is_nonnegative))
        folded.reset();
    if (folded && !kept.empty() && op == FormulaOp::Min && folded->numerator == 0 &&
        all_nonnegative)
        kept.clear();
    if (folded) kept.insert(kept.begin(), constant(*folded));
    return kept.size() == 1 ? kept.front() : node(op, std::move(kept));
}

bool mentions(const Formula& formula, Symbol symbol) {
    const std::vector<Symbol> symbols = symbols_of(formula);
    return std::binary_search(symbols.begin(), symbols.end(), symbol);
}

void collect_symbols(const Formula& formula, std::set<Symbol>& bound, std::set<Symbol>& found) {
    if (formula.op == FormulaOp::Symbol) {
        if (!bound.contains(formula.symbol)) found.insert(formula.symbol);
        return;
    }
    if (formula.op != FormulaOp::Sum) {
        for (const Formula& arg : formula.args) collect_symbols(arg, bound, found);
        return;
    }
    collect_symbols(formula.args[0], bound, found);
    collect_symbols(formula.args[1], bound, found);
    const bool fresh = bound.insert(formula.symbol).second;
    collect_symbols(formula.args[2], bound, found);
    if (fresh) bound.erase(formula.symbol);
}

/// An index like this one that neither formula mentions.
Symbol fresh_index(Symbol index, const Formula& a, const Formula& b) {
    do ++index.number;
    while (mentions(a, index) || mentions(b, index));
    return index;
}

}  // namespace

Formula operator+(const Formula& a, const Formula& b) {
    if (is_value(a, 0)) return b;
    if (is_value(b, 0)) return a;
    std::vector<Term> terms;
    add_terms(terms, a);
    add_terms(terms, b);
    std::vector<Formula> args;
    std::optional<Formula> number;  // constants stand last, `q + 1`
    for (Term& term : terms) {
        if (term.coefficient.numerator == 0) continue;
        const bool is_number = term.factors.empty();
        Formula formula = formula_of(std::move(term));
        if (is_number)
            number = std::move(formula);
        else
            args.push_back(std::move(formula));
    }
    if (number) args.push_back(std::move(*number));
    if (args.empty()) return {0};
    return args.size() == 1 ? args.front() : node(FormulaOp::Add, std::move(args));
}

Formula operator-(const Formula& a, const Formula& b) {
    return a + Formula(-1) * b;
}

Formula operator*(const Formula& a, const Formula& b) {
    if (is_value(a, 1)) return b;
    if (is_value(b, 1)) return a;
    // A number multiplies every term of a sum, so that differences cancel.
    for (const auto& [number, sum] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
        if (!is_constant(*number) || sum->op != FormulaOp::Add) continue;
        Formula result{0};
        for (const Formula& arg : sum->args) result = result + *number * arg;
        return result;
    }
    Term left = term_of(a);
    Term right = term_of(b);
    left.coefficient = left.coefficient * right.coefficient;
    left.factors.insert(left.factors.end(), right.factors.begin(), right.factors.end());
    std::stable_sort(left.factors.begin(), left.factors.end(), less);
    return formula_of(std::move(left));
}

Formula divide(const Formula& a, const Formula& b) {
    return divided(FormulaOp::Divide, a, b);
}
Formula floor_divide(const Formula& a, const Formula& b) {
    return divided(FormulaOp::FloorDivide, a, b);
}
Formula ceil_divide(const Formula& a, const Formula& b) {
    return divided(FormulaOp::CeilDivide, a, b);
}

Formula modulo(const Formula& a, const Formula& b) {
    if (is_constant(a) && is_constant(b) && b.constant.numerator != 0)
        return a - b * floor_divide(a, b);
    if (is_value(b, 1) && is_integral(a)) return {0};
    return node(FormulaOp::Modulo, {a, b});
}

Formula min_of(const Formula& a, const Formula& b) {
    return extreme(FormulaOp::Min, a, b);
}
Formula max_of(const Formula& a, const Formula& b) {
    return extreme(FormulaOp::Max, a, b);
}

Formula at_most(const Formula& a, const Formula& b) {
    const Formula slack = b - a;
    if (is_constant(slack)) return {slack.constant.numerator >= 0 ? 1 : 0};
    return node(FormulaOp::LessEqual, {a, b});
}

Formula sum_over(Symbol index, const Formula& low, const Formula& high, const Formula& term) {
    if (is_value(term, 0)) return {0};
    const Formula count = high - low + Formula(1);
    if (is_constant(count) && count.constant.numerator <= 0) return {0};
    if (low == high) return substitute(term, index, low);
    if (!mentions(term, index)) return max_of(0, count) * term;
    Formula result = node(FormulaOp::Sum, {low, high, term});
    result.symbol = index;
    return result;
}

Formula substitute(const Formula& formula, Symbol symbol, const Formula& value) {
    if (formula.op == FormulaOp::Constant) return formula;
    if (formula.op == FormulaOp::Symbol) return formula.symbol == symbol ? value : formula;
    std::vector<Formula> args;
    const auto replaced = [&](const Formula& arg) { return substitute(arg, symbol, value); };
    if (formula.op == FormulaOp::Sum) {
        const Formula low = replaced(formula.args[0]);
        const Formula high = replaced(formula.args[1]);
        if (formula.symbol == symbol) return sum_over(symbol, low, high, formula.args[2]);
        if (!mentions(value, formula.symbol))
            return sum_over(formula.symbol, low, high, replaced(formula.args[2]));
        const Symbol fresh = fresh_index(formula.symbol, formula.args[2], value);
        const Formula term = substitute(formula.args[2], formula.symbol, fresh);
        return sum_over(fresh, low, high, replaced(term));
    }
    std::transform(formula.args.begin(), formula.args.end(), std::back_inserter(args), replaced);
    Formula result = args.front();
    for (std::size_t i = 1; i < args.size(); ++i) {
        switch (formula.op) {
        case FormulaOp::Add: result = result + args[i]; break;
        case FormulaOp::Multiply: result = result * args[i]; break;
        case FormulaOp::Divide: result = divide(result, args[i]); break;
        case FormulaOp::FloorDivide: result = floor_divide(result, args[i]); break;
        case FormulaOp::CeilDivide: result = ceil_divide(result, args[i]); break;
        case FormulaOp::Modulo: result = modulo(result, args[i]); break;
        case FormulaOp::Min: result = min_of(result, args[i]); break;
        case FormulaOp::Max: result = max_of(result, args[i]); break;
        default: result = at_most(result, args[i]); break;
        }
    }
    return result;
}

std::vector<Symbol> symbols_of(const Formula& formula) {
    std::set<Symbol> bound;
    std::set<Symbol> found;
    collect_symbols(formula, bound, found);
    return {found.begin(), found.end()};
}

}  // namespace napkin
