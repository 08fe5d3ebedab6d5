#include "perfmodel/affine_masks.h"

#include <algorithm>

namespace napkin {

namespace {

/// A comparison as `form <= 0`; false where it is anything else.
bool add_comparison(const std::vector<Axis>& axes, const Expression& condition,
                    std::vector<Affine>& conjuncts) {
    const Apply* call = std::get_if<Apply>(&condition.node);
    if (call == nullptr || call->arguments.size() != 2) return false;
    const std::optional<Affine> left = affine_form(axes, call->arguments[0]);
    const std::optional<Affine> right = affine_form(axes, call->arguments[1]);
    if (!left || !right) return false;
    Affine gap = difference(*left, *right);
    const Affine opposite = difference(*right, *left);
    const auto strict = [](Affine form) {
        form.constant.formula = form.constant.formula + Formula(1);
        ++form.constant.value;
        return form;
    };
    switch (call->function) {
    case Function::LessEqual: conjuncts.push_back(gap); return true;
    case Function::Less: conjuncts.push_back(strict(gap)); return true;
    case Function::GreaterEqual: conjuncts.push_back(opposite); return true;
    case Function::Greater: conjuncts.push_back(strict(opposite)); return true;
    case Function::Equal:
        conjuncts.push_back(gap);
        conjuncts.push_back(opposite);
        return true;
    default: return false;
    }
}

/// 1 where two forms have the same factors, each 1 or -1, and -1 where they have opposite ones; 0
/// else.
std::int64_t side_of(const Affine& a, const Affine& b) {
    if (a.factors.empty() || a.factors.size() != b.factors.size()) return 0;
    const auto product = [](const auto& x, const auto& y) {
        return x.first == y.first ? x.second.value * y.second.value : 0;
    };
    const std::int64_t side = product(*a.factors.begin(), *b.factors.begin());
    const bool same =
        std::equal(a.factors.begin(), a.factors.end(), b.factors.begin(),
                   [&](const auto& x, const auto& y) { return product(x, y) == side; });
    return same && side * side == 1 ? side : 0;
}

}  // namespace

std::optional<std::vector<Conjunct>> conjuncts_of(const std::vector<Axis>& axes,
                                                  const Component& component) {
    std::vector<Conjunct> result;
    for (const VisibleWhen& mask : component.masks) {
        std::vector<Affine> forms;
        for (const Expression& part : napkin::conjuncts_of(*mask.condition))
            if (!add_comparison(axes, part, forms)) return std::nullopt;
        for (Affine& form : forms) result.push_back({std::move(form), mask.depth});
    }
    return result;
}

bool is_polynomial(const Formula& formula) {
    const bool plain = formula.op == FormulaOp::Constant || formula.op == FormulaOp::Symbol ||
                       formula.op == FormulaOp::Add || formula.op == FormulaOp::Multiply;
    return plain && std::all_of(formula.args.begin(), formula.args.end(), is_polynomial);
}

/// No term is taken away but a constant.
bool never_negative(const Formula& formula) {
    if (!is_polynomial(formula)) return false;
    const std::optional<Polynomial> polynomial = idealise(formula);
    if (!polynomial) return false;
    Rational at_ones;
    for (const auto& [monomial, coefficient] : polynomial->terms) {
        if (!monomial.empty() && coefficient.numerator < 0) return false;
        at_ones = at_ones + coefficient;
    }
    return at_ones.numerator >= 0;
}

bool bound_one_form(const std::vector<Conjunct>& conjuncts) {
    for (const Conjunct& a : conjuncts)
        for (const Conjunct& b : conjuncts) {
            const std::int64_t side = side_of(a.form, b.form);
            const Formula between = Formula(0) - a.form.constant.formula - b.form.constant.formula;
            if (side == 0 || (side < 0 && !never_negative(between))) return false;
        }
    return true;
}

}  // namespace napkin
