// Folds that keep whole elements: of tuples, products, and selections of the largest.
#include <algorithm>

#include "derive/separation/place/plan.h"

namespace napkin::separation {
namespace {

/// Whether a product that is not negative may be zero; what divides is not.
bool can_be_zero(const Monomial& product) {
    const auto divides = [](const auto& power) { return power.second < 0; };
    return !product.guards.empty() ||
           !std::all_of(product.powers.begin(), product.powers.end(), divides);
}

}  // namespace

/// Folds of tuples, products and selections: only values without folds.
Form Plan::other(std::uint32_t fold) {
    const FoldOver& entry = folds_[fold];
    for (std::uint32_t i = 0; i < folds_.size(); ++i)
        if (folds_[i].statement == entry.statement && algebra_.class_of(forms_[i]).folded)
            return refuse(entry.picks ? Why::Select : Why::Monoid, i);
    StateVariable state{.monoid = entry.monoid,
                        .over = entry.over,
                        .axes = entry.axes,
                        .form = forms_[fold],
                        .verbatim = fold,
                        .component = entry.component,
                        .picks = entry.picks,
                        .serves = fold};
    const Diagram& diagram = cascade_.diagram();
    const std::size_t components = diagram[*entry.statement].targets.size();
    if (components == 1 && !entry.picks) return request(std::move(state));
    const std::uint32_t first = static_cast<std::uint32_t>(states_.size());
    const std::uint32_t fold_zero = fold - entry.component;
    for (std::uint32_t i = 0; i < components; ++i) {
        StateVariable one = state;
        one.component = i;
        one.first = first;
        one.form = forms_[fold_zero + i];
        one.verbatim = fold_zero + i;
        one.serves = fold_zero + i;
        one.axes = folds_[fold_zero + i].axes;
        values_[fold_zero + i] = request(std::move(one));
    }
    return values_[fold];
}

/// The largest of u + w is at the largest u; so is the largest of u * w, for w > 0. Where w = 0, or
/// infinite or no number, finite elements become alike, and the lowest indices are selected.
Form Plan::pick(std::uint32_t fold) {
    const std::uint32_t first = fold - folds_[fold].component;
    const PolynomialId form = normal_.collect(forms_[first]);
    const Class of = algebra_.class_of(form);
    if (!of.folded) return other(fold);
    const Polynomial sum = algebra_[form];
    StateVariable state{.monoid = kMax, .over = folds_[fold].over, .picks = true, .serves = first};
    PolynomialId rest = kZero;  // added to the value
    PolynomialId factor = algebra_.constant(1);
    bool exponential = false;
    if (sum.terms.size() == 1) {
        const auto& [mono, coefficient] = sum.terms.front();
        const Split parts = split(algebra_, mono, folds_[fold].over);
        Monomial scale = parts.rest;
        scale.exponent = kZero;
        const bool known =
            mono.deferred.empty() && coefficient > 0 && cascade_.facts().nonnegative(scale);
        const bool bare = parts.streamed.powers.empty() && parts.streamed.guards.empty();
        if (!known || (parts.streamed.exponent != kZero && !bare))
            return refuse(Why::Select, first);
        exponential = bare;
        state.unless_zero = can_be_zero(scale);
        state.form = bare ? parts.streamed.exponent : algebra_.monomial(parts.streamed);
        factor = algebra_.monomial(parts.rest, coefficient);
    } else {
        state.form = kZero;
        for (const auto& [mono, coefficient] : sum.terms) {
            const Class part = algebra_.class_of(mono);
            if (part.mixed() || !mono.deferred.empty()) return refuse(Why::Select, first);
            PolynomialId& into = part.folded ? rest : state.form;
            into = algebra_.add(into, algebra_.monomial(mono, coefficient));
        }
    }
    const std::uint32_t id = static_cast<std::uint32_t>(states_.size());
    for (std::uint32_t i = 0; i < 2; ++i) {
        StateVariable one = state;
        one.axes = folds_[first + i].axes;
        one.component = i;
        one.first = id;
        one.serves = first + i;
        states_.push_back(std::move(one));
    }
    const auto reference = [&](std::uint32_t i) {
        return algebra_.atom(algebra_.reference(Kind::State, id + i, folds_[first + i].axes));
    };
    const PolynomialId together = factor;
    Form best = reference(0);
    if (exponential) {
        const PolynomialId exponent = algebra_[factor].terms.front().first.exponent;
        best = normal_.exponential(algebra_.add(*best, exponent), folds_[first].body);
        Monomial bare = algebra_[factor].terms.front().first;
        bare.exponent = kZero;
        factor = algebra_.monomial(std::move(bare), algebra_[factor].terms.front().second);
    }
    values_[first] = algebra_.add(algebra_.multiply(*best, factor), rest);
    values_[first + 1] = where_told_apart(reference(1), together, rest, first);
    return values_[fold];
}

/// The index, but the lowest where the factor is zero, or the factor or the rest is infinite or no
/// number: then nothing tells finite elements apart.
PolynomialId Plan::where_told_apart(PolynomialId index, PolynomialId factor, PolynomialId rest,
                                    std::uint32_t fold) {
    std::optional<TermId> apart;
    const auto require = [&](Function function, TermId a, TermId b) {
        const TermId test = algebra_.apply(function, {a, b});
        apart = apart ? algebra_.apply(Function::And, {*apart, test}) : test;
    };
    const Monomial scale = algebra_[factor].terms.front().first;
    Monomial bare = scale;
    bare.exponent = kZero;
    if (can_be_zero(bare))
        require(Function::Greater, algebra_.term_of(algebra_.monomial(bare)), algebra_.number(0));
    for (const PolynomialId part : {algebra_.monomial(bare), scale.exponent, rest})
        if (algebra_.as_constant(part) == nullptr) {
            const TermId value = algebra_.term_of(part);
            require(Function::Equal, algebra_.apply(Function::Guard, {value}), value);
        }
    if (!apart) return index;
    const Statement& source = cascade_.diagram()[*folds_[fold].statement];
    const std::optional<AxisId> rank = std::get<Select>(source.body).rank;
    const TermId lowest = rank ? algebra_.axis(*rank) : algebra_.number(0);
    return algebra_.atom(
        algebra_.apply(Function::Select, {*apart, algebra_.term_of(index), lowest}));
}

/// What is read at the selected index travels with the element; where another index may be given
/// after all, it is not at hand.
Form Plan::carried(std::uint32_t fold) {
    const FoldOver& entry = folds_[fold];
    if (!value(*entry.carried_by)) return std::nullopt;
    if (algebra_.class_of(forms_[fold]).folded) return refuse(Why::Gather, fold);
    std::uint32_t first = 0;
    for (const StateVariable& carrier : states_)
        if (carrier.picks && carrier.serves == *entry.carried_by) {
            if (carrier.unless_zero) return refuse(Why::Gather, fold);
            first = *carrier.first;
        }
    StateVariable state{.monoid = kMax,
                        .over = entry.over,
                        .axes = entry.axes,
                        .form = forms_[fold],
                        .first = first,
                        .picks = true,
                        .carried = true,
                        .serves = fold};
    return request(std::move(state));
}

}  // namespace napkin::separation
