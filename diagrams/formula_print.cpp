// Formulas as text: arithmetic with + - * /, ceil, floor, min, max and sum(i, lo, hi, e), which
// any calculator with those functions evaluates.
#include <algorithm>

#include "diagrams/formula.h"
#include "diagrams/formula_parts.h"

namespace napkin {

std::string text_of(Rational value) {
    std::string text = std::to_string(value.numerator);
    if (value.denominator != 1) text += "/" + std::to_string(value.denominator);
    return text;
}

namespace {

// How tightly the text of a formula holds together.
enum class Binding { Sum, Product, Atom };

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

std::string at_least(const Formula& formula, Binding least) {
    const std::string text = print(formula);
    return binding_of(formula) < least ? "(" + text + ")" : text;
}

std::string quotient(const Formula& formula) {
    return at_least(formula.args[0], Binding::Product) + "/" +
           at_least(formula.args[1], Binding::Atom);
}

std::string call(const std::string& name, const std::vector<Formula>& args) {
    std::string text = name + "(";
    for (std::size_t i = 0; i < args.size(); ++i) text += (i == 0 ? "" : ", ") + print(args[i]);
    return text + ")";
}

std::string print_sum(const Formula& formula) {
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

std::string print_product(const Formula& formula) {
    std::string text;
    for (const Formula& factor : formula.args) {
        if (text.empty() && factor == Formula(-1)) {
            text = "-";
            continue;
        }
        const bool leads = text.empty() && factor.op == FormulaOp::Constant;
        const std::string part = leads ? print(factor) : at_least(factor, Binding::Product);
        text += (text.empty() || text == "-" ? "" : "*") + part;
    }
    return text;
}

}  // namespace

std::string print(const Formula& formula) {
    switch (formula.op) {
    case FormulaOp::Constant: return text_of(formula.constant);
    case FormulaOp::Symbol: return formula.symbol;
    case FormulaOp::Add: return print_sum(formula);
    case FormulaOp::Multiply: return print_product(formula);
    case FormulaOp::Divide: return quotient(formula);
    case FormulaOp::FloorDivide: return "floor(" + quotient(formula) + ")";
    case FormulaOp::CeilDivide: return "ceil(" + quotient(formula) + ")";
    case FormulaOp::Modulo:
        return at_least(formula.args[0], Binding::Sum) + " - " +
               at_least(formula.args[1], Binding::Product) + "*floor(" + quotient(formula) + ")";
    case FormulaOp::Min: return call("min", formula.args);
    case FormulaOp::Max: return call("max", formula.args);
    case FormulaOp::LessEqual:
        // 1 where the difference is not negative, else 0, in functions that every reader has.
        return "max(0, min(1, 1 + floor(" + print(formula.args[1] - formula.args[0]) + ")))";
    case FormulaOp::Sum:
        return "sum(" + formula.symbol + ", " + print(formula.args[0]) + ", " +
               print(formula.args[1]) + ", " + print(formula.args[2]) + ")";
    }
    return "";
}

}  // namespace napkin
