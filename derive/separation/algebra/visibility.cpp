// What a sum of exponentials l leaves where nothing is visible: there it is 0, and l / l is 0 too.
//
// l / l is therefore 1 under the guard `l != 0`. A product with another factor that vanishes along
// needs no guard, and what is left of a - (if l != 0 then a else 0) counts where l is 0 only.
#include <algorithm>

#include "derive/separation/algebra/algebra.h"

namespace napkin::separation {

/// Of a guard `l == 0` or `l != 0`, what it compares.
std::optional<TermId> Algebra::compared_with_zero(TermId guard, Function comparison) const {
    const Term& term = (*this)[guard];
    const bool compares = term.kind == Kind::Apply && term.function == comparison &&
                          is_number(term.parts[1], 0) && class_of(guard).folded;
    return compares ? std::optional(term.parts[0]) : std::nullopt;
}

bool Algebra::is_hidden(const Monomial& product) const {
    return std::any_of(product.guards.begin(), product.guards.end(), [&](TermId guard) {
        return compared_with_zero(guard, Function::Equal).has_value();
    });
}

/// Whether a product counts only where a factor of it is 0.
bool Algebra::is_nothing(const Monomial& product) {
    const std::vector<TermId> guards = product.guards;
    return std::any_of(guards.begin(), guards.end(), [&](TermId guard) {
        const std::optional<TermId> sum = compared_with_zero(guard, Function::Equal);
        if (!sum) return false;
        const TermId opposite = apply(Function::NotEqual, {*sum, number(0)});
        return std::find(guards.begin(), guards.end(), opposite) != guards.end() ||
               vanishes_with(product, *sum);
    });
}

/// Where l is 0, a sum with log(l) in it is -inf, whatever else it has.
void Algebra::drop_beside_logarithms(Polynomial& sum) {
    std::erase_if(sum.terms, [&](const auto& term) {
        const std::vector<TermId> guards = term.first.guards;
        return std::any_of(guards.begin(), guards.end(), [&](TermId guard) {
            const std::optional<TermId> vanishing = compared_with_zero(guard, Function::Equal);
            if (!vanishing) return false;
            const Monomial log{.powers = {{apply(Function::Log, {*vanishing}), 1}}};
            return std::any_of(sum.terms.begin(), sum.terms.end(), [&](const auto& other) {
                return other.second > 0 && other.first == log;
            });
        });
    });
}

/// Whether a factor of the product is 0 wherever the sum is.
bool Algebra::vanishes_with(const Monomial& product, TermId sum) const {
    const auto exponentials = vanishes_(Term((*this)[sum]));
    if (!exponentials || exponentials->empty()) return false;
    return std::any_of(product.powers.begin(), product.powers.end(), [&](const auto& factor) {
        const auto others =
            factor.second > 0 ? vanishes_(Term((*this)[factor.first])) : std::nullopt;
        return others && std::includes(others->begin(), others->end(), exponentials->begin(),
                                       exponentials->end());
    });
}

/// The guard `l != 0` that the product has beyond those of the other one, which is equal otherwise.
std::optional<TermId> Algebra::guard_beyond(const Monomial& product, const Monomial& other) const {
    if (product.guards.size() != other.guards.size() + 1) return std::nullopt;
    for (const TermId guard : product.guards) {
        Monomial without = product;
        std::erase(without.guards, guard);
        if (without == other && compared_with_zero(guard, Function::NotEqual)) return guard;
    }
    return std::nullopt;
}

/// a - (if l != 0 then a else 0) is `if l == 0 then a else 0`, either way round.
bool Algebra::cancel_visible(std::map<Monomial, double>& sum, const Monomial& mono,
                             double coefficient) {
    const auto alike = [&](const Monomial& other) {
        return other.powers == mono.powers && other.exponent == mono.exponent;
    };
    auto at = sum.lower_bound(Monomial{.powers = mono.powers, .exponent = mono.exponent});
    for (; at != sum.end() && alike(at->first); ++at) {
        if (at->second != -coefficient) continue;
        const Monomial other = at->first;
        std::optional<TermId> guard = guard_beyond(mono, other);
        const double left = guard ? -coefficient : coefficient;
        if (!guard) guard = guard_beyond(other, mono);
        if (!guard) continue;
        Monomial hidden = mono.guards.size() < other.guards.size() ? mono : other;
        const TermId absent = apply(Function::Equal, Term((*this)[*guard]).parts);
        hidden = multiply(hidden, Monomial{.guards = {absent}});
        sum.erase(at);
        if (!is_nothing(hidden)) add(sum, hidden, left);
        return true;
    }
    return false;
}

}  // namespace napkin::separation
