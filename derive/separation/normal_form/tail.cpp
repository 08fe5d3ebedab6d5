// Sums of a tail: what cancels is multiplied out, what overflows is taken relative to the largest
// exponent.
//
//   l + exp(z - m) = exp(g) * (exp(0 - g) * l + exp(z - m - g)),  g = max(0, z - m)
//
// A quotient by such a sum then has exp(-g) as a factor, which meets the numerator's exponent; its
// logarithm has g as a summand.
#include <algorithm>
#include <set>

#include "derive/separation/algebra/mentions.h"
#include "derive/separation/normal_form/normal_form.h"

namespace napkin::separation {
namespace {

constexpr int kMostBounds = 8;
/// exp of this is far from the largest float32, also summed and squared.
constexpr double kSmallExponent = 20;

}  // namespace

/// Whether a summand has a factor that others are relative to, which multiplying out may cancel.
bool NormalForm::has_gauge(PolynomialId polynomial) const {
    if (!in_tail() || opened_ == 0) return false;
    const auto& terms = algebra_[polynomial].terms;
    return std::any_of(terms.begin(), terms.end(), [&](const auto& term) {
        return std::any_of(term.first.powers.begin(), term.first.powers.end(),
                           [&](const auto& factor) { return is_gauge_(factor.first); });
    });
}

/// A sum, multiplied out where no gauge is left of it then.
Form NormalForm::sum_of_tail(PolynomialId sum) {
    const Form form = of(sum);
    if (!form || opened_ > 0 || !mentions_gauge(*form)) return form;
    ++opened_;
    const Form open = of(sum);
    --opened_;
    if (!open) forget_obstacle();
    return open && !mentions_gauge(*open) ? open : form;
}

bool NormalForm::mentions_gauge(PolynomialId polynomial) const {
    return is_gauge_ && mentions(algebra_, polynomial, is_gauge_);
}

bool NormalForm::has_exponentials(PolynomialId polynomial) const {
    const auto& terms = algebra_[polynomial].terms;
    return std::any_of(terms.begin(), terms.end(),
                       [](const auto& term) { return term.first.exponent != kZero; });
}

/// Whether the exponent is bounded from above: a maximum that is subtracted bounds what it is of.
bool NormalForm::never_large(PolynomialId exponent, int depth) {
    const std::optional<double> upper = facts_.upper(exponent);
    if (upper && *upper <= kSmallExponent) return true;
    if (depth == 0) return false;
    for (const auto& [mono, coefficient] : Polynomial(algebra_[exponent]).terms) {
        const bool bare = coefficient < 0 && mono.powers.size() == 1 &&
                          mono.powers[0].second == 1 && mono.exponent == kZero &&
                          mono.guards.empty() && mono.deferred.empty();
        if (!bare) continue;
        const TermId large = mono.powers[0].first;
        const PolynomialId rest = algebra_.subtract(exponent, algebra_.monomial(mono, coefficient));
        for (const auto& [other, factor] : Polynomial(algebra_[rest]).terms) {
            const bool pair = factor == -coefficient && other.exponent == kZero &&
                              other.powers.size() == 1 && other.powers[0].second == 1;
            if (pair && known_.at_most && known_.at_most(other.powers[0].first, large) &&
                never_large(algebra_.subtract(rest, algebra_.monomial(other, factor)), depth - 1))
                return true;
        }
        if (known_.unrounded)
            if (const std::optional<TermId> value = known_.unrounded(large)) {
                const Form form = of(*value);
                const bool bounded =
                    form &&
                    never_large(algebra_.add(rest, algebra_.scale(*form, coefficient)), depth - 1);
                if (bounded) return true;
            }
        Term term = algebra_[large];
        const bool log = term.kind == Kind::Apply && term.function == Function::Log;
        if (log && known_.at_least_one && known_.at_least_one(term.parts.front()) &&
            never_large(rest, depth - 1))
            return true;
        if (term.kind == Kind::Apply && term.function == Function::Guard)
            term = algebra_[term.parts.front()];
        if (term.kind != Kind::Apply || term.function != Function::Max) continue;
        for (const TermId part : term.parts) {
            const Form bound = of(part);
            if (bound &&
                never_large(algebra_.add(rest, algebra_.scale(*bound, coefficient)), depth - 1))
                return true;
        }
    }
    return false;
}

bool NormalForm::is_bounded(PolynomialId exponent) {
    return never_large(exponent, kMostBounds);
}

/// A sum whose exponents may be large as exp(g) times the same sum relative to g, the largest of
/// them.
PolynomialId NormalForm::relative_to_largest(PolynomialId sum) {
    const Polynomial source = algebra_[sum];
    if (!in_tail() || source.terms.size() < 2) return sum;
    std::vector<PolynomialId> exponents;
    for (const auto& [mono, coefficient] : source.terms) {
        if (!mono.deferred.empty()) return sum;
        if (std::find(exponents.begin(), exponents.end(), mono.exponent) == exponents.end())
            exponents.push_back(mono.exponent);
    }
    if (std::all_of(exponents.begin(), exponents.end(), [&](PolynomialId exponent) {
            return exponent == kZero || never_large(exponent, kMostBounds);
        }))
        return sum;
    const auto real = [&](PolynomialId exponent) {
        const double* value = algebra_.as_constant(exponent);
        return value != nullptr ? algebra_.number(*value, false) : algebra_.term_of(exponent);
    };
    TermId largest = real(exponents.front());
    for (std::size_t i = 1; i < exponents.size(); ++i)
        largest = algebra_.apply(Function::Max, {largest, real(exponents[i])});
    const TermId gauge = algebra_.apply(Function::Guard, {largest});
    scaled_.emplace(gauge, sum);
    PolynomialId relative = kZero;
    for (auto [mono, coefficient] : source.terms) {
        mono.exponent = algebra_.subtract(mono.exponent, algebra_.atom(gauge));
        relative = algebra_.add(relative, algebra_.monomial(std::move(mono), coefficient));
    }
    return algebra_.multiply(algebra_.atom(algebra_.term_of(relative)),
                             algebra_.monomial(Monomial{.exponent = algebra_.atom(gauge)}));
}

}  // namespace napkin::separation
