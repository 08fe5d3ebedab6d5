// Products and powers of sums: which sums are multiplied out, which stay one factor, and relative
// to what.
#include <algorithm>
#include <cmath>

#include "derive/separation/normal_form/normal_form.h"
#include "diagrams/contains.h"
#include "diagrams/literal.h"

namespace napkin::separation {

PolynomialId NormalForm::gather_class(PolynomialId polynomial, bool folded) {
    const Polynomial source = algebra_[polynomial];
    PolynomialId one = kZero;
    PolynomialId others = kZero;
    const auto belongs = [&](const Monomial& mono) {
        const Class of = algebra_.class_of(mono);
        return !of.mixed() && of.folded == folded && mono.exponent == kZero &&
               mono.guards.empty() && mono.deferred.empty();
    };
    const auto is_value = [&](const auto& term) {
        return belongs(term.first) && !algebra_.class_of(term.first).infinite;
    };
    // What is relative to a mean moves with it: it stays with masks alone.
    const bool several = std::count_if(source.terms.begin(), source.terms.end(), is_value) > 1;
    for (const auto& [mono, coefficient] : source.terms) {
        PolynomialId& into = belongs(mono) && !(several && is_relative(mono)) ? one : others;
        into = algebra_.add(into, algebra_.monomial(mono, coefficient));
    }
    if (algebra_[one].terms.size() < 2) return polynomial;
    return algebra_.add(others, algebra_.atom(algebra_.term_of(one)));
}

PolynomialId NormalForm::collect(PolynomialId polynomial) {
    const PolynomialId gathered = gather_class(gather_class(polynomial, false), true);
    const Polynomial sum = algebra_[gathered];
    if (sum.terms.size() < 2) return gathered;
    const Split first = split(algebra_, sum.terms.front().first, {});
    bool same_streamed = true;
    bool same_rest = true;
    PolynomialId streamed = kZero;
    PolynomialId rest = kZero;
    for (const auto& [mono, coefficient] : sum.terms) {
        const Split parts = split(algebra_, mono, {});
        same_streamed &= parts.streamed == first.streamed;
        same_rest &= parts.rest == first.rest;
        streamed = algebra_.add(streamed, algebra_.monomial(parts.streamed, coefficient));
        rest = algebra_.add(rest, algebra_.monomial(parts.rest, coefficient));
    }
    if (same_streamed)
        return algebra_.multiply(algebra_.monomial(first.streamed),
                                 algebra_.atom(algebra_.term_of(rest)));
    if (same_rest)
        return algebra_.multiply(algebra_.monomial(first.rest),
                                 algebra_.atom(algebra_.term_of(streamed)));
    return gathered;
}

/// What is left where nothing is visible, which most factors make 0.
PolynomialId NormalForm::hidden_part(PolynomialId polynomial) {
    Polynomial hidden = algebra_[polynomial];
    std::erase_if(hidden.terms, [&](const auto& term) { return !algebra_.is_hidden(term.first); });
    return algebra_.make(std::move(hidden));
}

/// Whether each summand is a streamed exponential: they have a gauge each, as where they are summed
/// by themselves.
bool NormalForm::sums_exponentials(PolynomialId polynomial) const {
    const auto& terms = algebra_[polynomial].terms;
    return std::all_of(terms.begin(), terms.end(), [&](const auto& term) {
        return algebra_.class_of(term.first.exponent).streamed;
    });
}

PolynomialId NormalForm::expandable(PolynomialId polynomial) {
    if (algebra_[polynomial].terms.size() < 2 || has_gauge(polynomial)) return polynomial;
    if (const PolynomialId hidden = hidden_part(polynomial); hidden != kZero)
        return algebra_.add(hidden, expandable(algebra_.subtract(polynomial, hidden)));
    if (sums_exponentials(polynomial)) return polynomial;
    if (pure(polynomial)) return algebra_.atom(algebra_.term_of(polynomial));
    const PolynomialId sum = keeps_relative() ? relative_to_gauge(polynomial) : polynomial;
    return gather_class(gather_class(sum, false), true);
}

/// a(x) - b(r) as (a - g) - (b - g) for some g near both: multiplied out, it does not cancel.
PolynomialId NormalForm::relative_to_gauge(PolynomialId polynomial, bool multiplied) {
    PolynomialId streamed = kZero;
    PolynomialId folded = kZero;
    PolynomialId others = kZero;
    for (const auto& [mono, coefficient] : Polynomial(algebra_[polynomial]).terms) {
        const Class of = algebra_.class_of(mono);
        const bool plain =
            !of.mixed() && mono.exponent == kZero && mono.deferred.empty() && !of.infinite;
        PolynomialId& into = !plain ? others : of.folded ? folded : streamed;
        into = algebra_.add(into, algebra_.monomial(mono, coefficient));
    }
    if (!algebra_.class_of(streamed).streamed || folded == kZero) return polynomial;
    for (const auto& [mono, coefficient] : algebra_[streamed].terms)
        for (const auto& [term, power] : mono.powers)  // multiplied out before
            if (algebra_[term].kind == Kind::Relative) return polynomial;
    const PolynomialId replaced = relative_to_(streamed, folded, guards_, multiplied);
    return algebra_.add(others, algebra_.add(folded, replaced));
}

/// Conditions under which any of the exponentials in a sum of products is not 0.
std::vector<TermId> NormalForm::shared_conditions(PolynomialId sum) const {
    std::optional<std::vector<TermId>> shared;
    for (const auto& [mono, coefficient] : algebra_[sum].terms) {
        if (mono.exponent == kZero) return {};
        const std::vector<TermId> conditions = conditions_of(algebra_, mono);
        if (!shared) shared = conditions;
        std::erase_if(*shared, [&](TermId each) { return !contains(conditions, each); });
    }
    return shared.value_or(std::vector<TermId>{});
}

/// Where a mask of its exponential makes one factor 0, what the other one is does not matter.
Form NormalForm::product_under_masks(const Term& term) {
    const auto exponential = [&](std::size_t at) {
        return algebra_.class_of(term.parts[at]).exponential;
    };
    const std::size_t first = exponential(1) && !exponential(0) ? 1 : 0;
    const Form one = of(term.parts[first]);
    if (!one) return std::nullopt;
    const std::size_t before = guards_.size();
    for (const TermId condition : shared_conditions(*one)) guards_.push_back(condition);
    const Form other = of(term.parts[1 - first]);
    Form result;
    if (other) result = first == 0 ? product(*one, *other) : product(*other, *one);
    guards_.resize(before);
    return result;
}

PolynomialId NormalForm::product(PolynomialId a, PolynomialId b) {
    if (const double* factor = algebra_.as_constant(a)) return algebra_.scale(b, *factor);
    if (const double* factor = algebra_.as_constant(b)) return algebra_.scale(a, *factor);
    const auto scales = [&](PolynomialId one, PolynomialId other) {
        return algebra_[one].terms.size() == 1 && has_exponentials(one) && has_exponentials(other);
    };
    if (in_tail() && (scales(a, b) || scales(b, a))) return algebra_.multiply(a, b);
    return algebra_.multiply(expandable(a), expandable(b));
}

Form NormalForm::power(PolynomialId base, double exponent, TermId term) {
    if (exponent == 1) return base;
    if (exponent == 0) return algebra_.constant(1);
    if (const double* value = algebra_.as_constant(base)) {
        if (const std::optional<double> result = power_of_literal(*value, exponent))
            return algebra_.constant(*result);
        return algebra_.atom(algebra_.number(*value), exponent);  // 1/0 too, as the user wrote it
    }
    const bool whole = exponent == std::floor(exponent);
    if (algebra_[base].terms.size() > 1 && (exponent < 0 || !whole))
        base = relative_to_largest(base);
    if (algebra_[base].terms.size() > 1) {
        const bool opens =
            whole && exponent > 0 &&
            (has_gauge(base) || sums_exponentials(base) || hidden_part(base) != kZero);
        if (pure(base) && !opens) return algebra_.atom(algebra_.term_of(base), exponent);
        if (whole && exponent >= 2 && exponent <= 8) {
            PolynomialId result = expandable(base);
            const PolynomialId factor = result;
            for (int i = 1; i < static_cast<int>(exponent); ++i) {
                result = algebra_.multiply(result, factor);
                if (algebra_[result].terms.size() > kMostMonomials)
                    return refuse(Why::Growth, term, base);
            }
            return result;
        }
        const PolynomialId collected = collect(base);
        if (algebra_[collected].terms.size() > 1) return refuse(Why::Power, term, base);
        base = collected;
    }
    const auto [mono, coefficient] = algebra_[base].terms.front();
    const bool conditional = !mono.guards.empty() && exponent <= 0;
    if (conditional || !mono.deferred.empty() || (!whole && coefficient < 0)) {
        if (pure(base)) return algebra_.atom(algebra_.term_of(base), exponent);
        return refuse(Why::Power, term, base);
    }
    if (!whole) return fractional_power(base, exponent, term);
    Monomial result{.exponent = algebra_.scale(mono.exponent, exponent), .guards = mono.guards};
    for (const auto& [factor, old] : mono.powers)
        result.powers.emplace_back(factor, old * exponent);
    return algebra_.scaled(std::move(result), 1, coefficient, exponent);
}

/// Powers of the factors, where each is known to be non-negative; an even power under a root leaves
/// an absolute value.
Form NormalForm::fractional_power(PolynomialId base, double exponent, TermId term) {
    const auto [mono, coefficient] = algebra_[base].terms.front();
    Monomial result{.exponent = algebra_.scale(mono.exponent, exponent), .guards = mono.guards};
    for (const auto& [factor, old] : mono.powers) {
        TermId positive = factor;
        if (!facts_.nonnegative(factor)) {
            if (std::fmod(old, 2) != 0) {
                if (pure(base)) return algebra_.atom(algebra_.term_of(base), exponent);
                return refuse(Why::Sign, term, base);
            }
            if (std::fmod(old * exponent, 2) != 0)
                positive = algebra_.apply(Function::Abs, {factor});
        }
        result = algebra_.multiply(result, Monomial{.powers = {{positive, old * exponent}}});
    }
    return algebra_.scaled(std::move(result), 1, coefficient, exponent);
}

}  // namespace napkin::separation
