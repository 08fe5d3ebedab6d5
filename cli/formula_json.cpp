#include "cli/formula_json.h"

#include <nlohmann/json.hpp>

#include "diagrams/factor.h"

namespace napkin::cli {
namespace {

Json tree_of(Rational value) {
    if (value.denominator == 1) return value.numerator;
    return Json::array({"/", value.numerator, value.denominator});
}

const char* word_of(FormulaOp op) {
    switch (op) {
    case FormulaOp::Constant:
    case FormulaOp::Symbol: break;
    case FormulaOp::Add: return "+";
    case FormulaOp::Multiply: return "*";
    case FormulaOp::Divide: return "/";
    case FormulaOp::FloorDivide: return "floor";
    case FormulaOp::CeilDivide: return "ceil";
    case FormulaOp::Modulo: return "mod";
    case FormulaOp::Min: return "min";
    case FormulaOp::Max: return "max";
    case FormulaOp::LessEqual: return "<=";
    case FormulaOp::Sum: return "sum";
    }
    throw InternalError("a formula without an operation");
}

/// Factors as one tree; 1 where there are none.
Json product_of(Json factors) {
    if (factors.empty()) return 1;
    if (factors.size() == 1) return factors.front();
    factors.insert(factors.begin(), "*");
    return factors;
}

Json powers_of(const std::vector<std::pair<std::string, Rational>>& powers) {
    Json factors = Json::array();
    for (const auto& [name, exponent] : powers)
        factors.push_back(exponent == Rational{1, 1} ? Json(name)
                                                     : Json::array({"^", name, tree_of(exponent)}));
    return factors;
}

/// A term, times sums.
Json tree_of(const WrittenTerm& term, const Json& sums = Json::array()) {
    Json above = powers_of(term.above);
    Json below = powers_of(term.below);
    above.insert(above.end(), sums.begin(), sums.end());
    if (term.coefficient.numerator != 1 || above.empty())
        above.insert(above.begin(), term.coefficient.numerator);
    if (term.coefficient.denominator != 1)
        below.insert(below.begin(), term.coefficient.denominator);
    if (below.empty()) return product_of(above);
    return Json::array({"/", product_of(above), product_of(below)});
}

}  // namespace

Json tree_of(const Formula& formula, const SymbolNames& names) {
    if (formula.op == FormulaOp::Constant) return tree_of(formula.constant);
    if (formula.op == FormulaOp::Symbol) return names(formula.symbol);
    Json tree = Json::array({word_of(formula.op)});
    if (formula.op == FormulaOp::Sum) tree.push_back(names(formula.symbol));
    for (const Formula& part : formula.args) tree.push_back(tree_of(part, names));
    return tree;
}

Json tree_of(const Polynomial& polynomial, const SymbolNames& names,
             const std::vector<Symbol>& order, const std::vector<Polynomial>& parts) {
    const auto [rest, products] = in_parts(polynomial, parts);
    Json terms = Json::array();
    for (const WrittenTerm& term : terms_of(rest, names, order)) terms.push_back(tree_of(term));
    for (const Polynomial& product : products) {
        const std::vector<Polynomial> factors = factors_of(product);
        Json sums = Json::array();
        for (std::size_t i = 1; i < factors.size(); ++i)
            sums.push_back(tree_of(factors[i], names, order));
        terms.push_back(tree_of(terms_of(factors.front(), names, order).front(), sums));
    }
    if (terms.empty()) return 0;
    if (terms.size() == 1) return terms.front();
    terms.insert(terms.begin(), "+");
    return terms;
}

Json tree_of(const Amount& amount, const SymbolNames& names, const std::vector<Symbol>& order,
             const std::vector<Polynomial>& parts) {
    return Json{
        {"values", amount.values},
        {"bytes", amount.bytes()},
        {"ideal", amount.ideal ? tree_of(*amount.ideal, names, order, parts) : Json(nullptr)},
        {"leads", amount.leads},
        {"exact", tree_of(amount.formula, names)},
        {"bits", tree_of(amount.bit_formula, names)},
        {"ideal_bits",
         amount.ideal_bits ? tree_of(*amount.ideal_bits, names, order) : Json(nullptr)}};
}

}  // namespace napkin::cli
