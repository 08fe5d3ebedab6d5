// Formulas as text: arithmetic with + - * /, ceil, floor, min, max and sum(i, lo, hi, e), which
// any calculator with those functions evaluates.
#include <algorithm>

#include "diagrams/binding.h"
#include "diagrams/formula.h"
#include "diagrams/formula_parts.h"
#include "diagrams/symbol_names.h"

namespace napkin {

std::string text_of(Rational value) {
    std::string text = std::to_string(value.numerator);
    if (value.denominator != 1) text += "/" + std::to_string(value.denominator);
    return text;
}

namespace {

Binding binding_of(const Formula& formula) {
    switch (formula.op) {
    case FormulaOp::Constant:
        return formula.constant.denominator != 1 || formula.constant.numerator < 0 ? Binding::Sum
                                                                                   : Binding::Atom;
    case FormulaOp::Add:
    case FormulaOp::Modulo: return Binding::Sum;
    case FormulaOp::Multiply:
    case FormulaOp::Divide: return Binding::Product;
    default: return Binding::Atom;
    }
}

/// Prints one formula with the names of its diagram.
class FormulaPrinter {
public:
    explicit FormulaPrinter(const SymbolNames& names) : names_(names) {}

    [[nodiscard]] std::string print(const Formula& formula) const {
        switch (formula.op) {
        case FormulaOp::Constant: return text_of(formula.constant);
        case FormulaOp::Symbol: return names_(formula.symbol);
        case FormulaOp::Add: return sum(formula);
        case FormulaOp::Multiply: return product(formula);
        case FormulaOp::Divide: return quotient(formula);
        case FormulaOp::FloorDivide: return "floor(" + quotient(formula) + ")";
        case FormulaOp::CeilDivide: return "ceil(" + quotient(formula) + ")";
        case FormulaOp::Modulo:
            return at_least(formula.args[0], Binding::Sum) + " - " +
                   at_least(formula.args[1], Binding::Product) + "*floor(" + quotient(formula) +
                   ")";
        case FormulaOp::Min: return "min(" + list(formula.args) + ")";
        case FormulaOp::Max: return "max(" + list(formula.args) + ")";
        case FormulaOp::LessEqual:
            // 1 where the difference is not negative, else 0, in functions that every reader has.
            return "max(0, min(1, 1 + floor(" + print(formula.args[1] - formula.args[0]) + ")))";
        case FormulaOp::Sum:
            return "sum(" + names_(formula.symbol) + ", " + list(formula.args) + ")";
        }
        return "";
    }

private:
    [[nodiscard]] std::string at_least(const Formula& formula, Binding least) const {
        const std::string text = print(formula);
        return binding_of(formula) < least ? "(" + text + ")" : text;
    }

    [[nodiscard]] std::string quotient(const Formula& formula) const {
        return at_least(formula.args[0], Binding::Product) + "/" +
               at_least(formula.args[1], Binding::Atom);
    }

    [[nodiscard]] std::string list(const std::vector<Formula>& args) const {
        std::string text;
        for (const Formula& arg : args) text += (text.empty() ? "" : ", ") + print(arg);
        return text;
    }

    [[nodiscard]] std::string sum(const Formula& formula) const {
        std::string text;
        for (const Formula& arg : formula.args) {
            std::string term = print(arg);
            if (text.empty())
                text = std::move(term);
            else if (term.front() == '-')
                text += " - " + term.substr(1);
            else
                text += " + " + term;
        }
        return text;
    }

    /// The number first, then the other factors by their texts.
    [[nodiscard]] std::string product(const Formula& formula) const {
        std::string text;
        std::vector<std::pair<std::string, std::string>> factors;
        for (const Formula& factor : formula.args)
            if (factor.op == FormulaOp::Constant)
                text = factor == Formula(-1) ? "-" : print(factor);
            else
                factors.emplace_back(print(factor), at_least(factor, Binding::Product));
        std::stable_sort(factors.begin(), factors.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& [sorted_by, factor] : factors)
            text += (text.empty() || text == "-" ? "" : "*") + factor;
        return text;
    }

    const SymbolNames& names_;
};

}  // namespace

std::string print(const Formula& formula, const SymbolNames& names) {
    return FormulaPrinter(names).print(formula);
}

}  // namespace napkin
