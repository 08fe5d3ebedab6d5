#include "derive/separation/algebra/algebra.h"

#include <algorithm>
#include <cmath>

#include "diagrams/literal.h"

namespace napkin::separation {
namespace {

void merge(Class& into, const Class& from) {
    into.streamed |= from.streamed;
    into.folded |= from.folded;
    into.exponential |= from.exponential;
    into.length += from.length;
    into.infinite |= from.infinite;
    into.axes.insert(from.axes.begin(), from.axes.end());
}

template <class T>
void insert_sorted(std::vector<T>& values, const T& value) {
    const auto at = std::lower_bound(values.begin(), values.end(), value);
    if (at == values.end() || *at != value) values.insert(at, value);
}

}  // namespace

Algebra::Algebra(std::vector<AxisId> streamed) : streamed_(std::move(streamed)) {
    make(Polynomial{});
}

TermId Algebra::make(Term term) {
    const auto found = term_ids_.find(term);
    if (found != term_ids_.end()) return found->second;
    const TermId id{static_cast<std::uint32_t>(terms_.size())};
    classes_.push_back(classify(term));
    terms_.push_back(term);
    term_ids_.emplace(std::move(term), id);
    return id;
}

Class Algebra::classify(const Term& term) const {
    Class result;
    for (const TermId part : term.parts) merge(result, class_of(part));
    if (term.kind == Kind::Relative) result.folded = class_of(term.parts[0]).folded;
    if (term.kind == Kind::Number) result.infinite = std::isinf(term.number);
    if (term.kind == Kind::Axis) {
        result.axes.insert(AxisId{term.ref});
        result.streamed =
            std::find(streamed_.begin(), streamed_.end(), AxisId{term.ref}) != streamed_.end();
    }
    if (term.kind == Kind::Fold || term.kind == Kind::State || term.kind == Kind::Late ||
        term.kind == Kind::Mean)
        result.folded = true;
    if (term.kind == Kind::Apply && term.function == Function::Exp) result.exponential = true;
    if (term.kind == Kind::Apply && term.function == Function::Guard) result.infinite = false;
    if (term.kind == Kind::Mask) result.infinite = true;
    if (term.kind == Kind::Sum) merge(result, class_of(PolynomialId{term.ref}));
    for (const AxisId axis : term.bound) result.axes.erase(axis);
    return result;
}

TermId Algebra::number(double value, bool is_integer) {
    return make(Term{.kind = Kind::Number, .number = value, .ref = is_integer ? 1U : 0U});
}

TermId Algebra::axis(AxisId axis) {
    return make(Term{.kind = Kind::Axis, .ref = axis.value});
}

TermId Algebra::apply(Function function, std::vector<TermId> parts) {
    return make(Term{.kind = Kind::Apply, .function = function, .parts = std::move(parts)});
}

PolynomialId Algebra::masked(TermId condition) {
    const Term term = (*this)[condition];
    if (term.kind != Kind::Apply || term.function != Function::And)
        return atom(make(Term{.kind = Kind::Mask, .parts = {condition}}));
    PolynomialId all = kZero;
    for (const TermId part : term.parts) all = add(all, masked(part));
    return all;
}

TermId Algebra::reference(Kind kind, std::uint32_t ref, const std::vector<AxisId>& axes) {
    Term term{.kind = kind, .ref = ref};
    for (const AxisId axis_id : axes) term.parts.push_back(axis(axis_id));
    return make(std::move(term));
}

TermId Algebra::term_of(PolynomialId polynomial) {
    const Polynomial& sum = (*this)[polynomial];
    if (const double* value = as_constant(polynomial)) return number(*value);
    if (sum.terms.size() == 1) {
        const auto& [mono, coefficient] = sum.terms.front();
        const bool bare = coefficient == 1 && mono.exponent == kZero && mono.guards.empty() &&
                          mono.deferred.empty() && mono.powers.size() == 1 &&
                          mono.powers.front().second == 1;
        if (bare) return mono.powers.front().first;
    }
    return make(Term{.kind = Kind::Sum, .ref = polynomial.value});
}

bool Algebra::is_number(TermId id, double value) const {
    const Term& term = (*this)[id];
    return term.kind == Kind::Number && term.number == value;
}

bool Algebra::is_mask(const Monomial& mono) const {
    return mono.exponent == kZero && mono.powers.size() == 1 && mono.guards.empty() &&
           mono.powers.front().second == 1 && (*this)[mono.powers.front().first].kind == Kind::Mask;
}

PolynomialId Algebra::make(Polynomial polynomial) {
    drop_beside_logarithms(polynomial);
    for (auto& [mono, coefficient] : polynomial.terms)
        if (coefficient > 0 && is_mask(mono))
            coefficient = 1;  // 0 and -inf do not change under a positive factor
    const auto found = polynomial_ids_.find(polynomial);
    if (found != polynomial_ids_.end()) return found->second;
    const PolynomialId id{static_cast<std::uint32_t>(polynomials_.size())};
    Class result;
    for (const auto& [mono, coefficient] : polynomial.terms) merge(result, class_of(mono));
    poly_classes_.push_back(std::move(result));
    polynomials_.push_back(polynomial);
    polynomial_ids_.emplace(std::move(polynomial), id);
    return id;
}

PolynomialId Algebra::constant(double value) {
    return value == 0 ? kZero : make(Polynomial{{{Monomial{}, value}}});
}

PolynomialId Algebra::atom(TermId term, double power) {
    if (power == 0) return constant(1);
    return monomial(Monomial{.powers = {{term, power}}});
}

PolynomialId Algebra::monomial(Monomial monomial, double coefficient) {
    if (coefficient == 0 || is_nothing(monomial)) return kZero;
    return make(Polynomial{{{std::move(monomial), coefficient}}});
}

PolynomialId Algebra::scaled(Monomial mono, double coefficient, double base, double power) {
    const std::optional<double> factor = power_of_literal(base, power);
    const std::optional<double> product =
        factor ? product_of_literals(coefficient, *factor) : std::nullopt;
    if (product) return monomial(std::move(mono), *product);
    const bool negative = base < 0 && std::fmod(power, 2) != 0;
    const Monomial apart{.powers = {{number(std::abs(base)), power}}};
    return monomial(multiply(mono, apart), negative ? -coefficient : coefficient);
}

PolynomialId Algebra::add(PolynomialId a, PolynomialId b) {
    std::map<Monomial, double> sum;
    for (const auto& [mono, coefficient] : (*this)[a].terms) sum[mono] = coefficient;
    for (const auto& [mono, coefficient] : Polynomial((*this)[b]).terms)
        add(sum, mono, coefficient);
    return make(Polynomial{{sum.begin(), sum.end()}});
}

void Algebra::add(std::map<Monomial, double>& sum, const Monomial& mono, double coefficient) {
    if (cancel_visible(sum, mono, coefficient)) return;
    const auto [at, fresh] = sum.try_emplace(mono, coefficient);
    if (fresh) return;
    const std::optional<double> both = sum_of_literals(at->second, coefficient);
    if (!both)
        add(sum, multiply(mono, Monomial{.powers = {{number(std::abs(coefficient)), 1}}}),
            coefficient < 0 ? -1 : 1);
    else if (*both == 0)
        sum.erase(at);
    else
        at->second = *both;
}

PolynomialId Algebra::scale(PolynomialId a, double factor) {
    if (factor == 0) return kZero;
    Polynomial result = (*this)[a];
    for (auto& entry : result.terms) {
        const std::optional<double> product = product_of_literals(entry.second, factor);
        if (!product) return multiply(a, constant(factor));
        entry.second = *product;
    }
    return make(std::move(result));
}

PolynomialId Algebra::plus(PolynomialId a, PolynomialId b) {
    PolynomialId result = add(a, b);
    const Polynomial left = (*this)[a];
    const Polynomial right = (*this)[b];
    for (const auto& [mono, coefficient] : right.terms) {
        const auto cancels = [&, &mono = mono, by = -coefficient](const auto& other) {
            return other.first == mono && other.second == by;
        };
        if (is_mask(mono) && std::any_of(left.terms.begin(), left.terms.end(), cancels))
            result = add(result, monomial(mono));
    }
    return result;
}

PolynomialId Algebra::multiply(PolynomialId a, PolynomialId b) {
    std::map<Monomial, double> sum;
    const Polynomial left = (*this)[a];
    const Polynomial right = (*this)[b];
    for (const auto& [first, c] : left.terms)
        for (const auto& [second, d] : right.terms)
            for (const auto& [mono, coefficient] :
                 Polynomial((*this)[scaled(multiply(first, second), c, d)]).terms)
                add(sum, mono, coefficient);
    return make(Polynomial{{sum.begin(), sum.end()}});
}

Monomial Algebra::multiply(const Monomial& a, const Monomial& b) {
    std::map<TermId, double> powers(a.powers.begin(), a.powers.end());
    std::vector<TermId> gone;
    for (const auto& [term, power] : b.powers) {
        const auto [at, fresh] = powers.try_emplace(term, power);
        if (fresh) continue;
        at->second += power;
        if (std::abs(at->second) >= 1e-12) continue;
        powers.erase(at);
        if (vanishes_ && vanishes_(Term((*this)[term]))) gone.push_back(term);
    }
    // Of exp(a) / exp(b), where the second is one over an exponential.
    Monomial result{.powers = {powers.begin(), powers.end()},
                    .exponent = plus(a.exponent, b.exponent),
                    .guards = a.guards,
                    .deferred = a.deferred};
    for (const TermId guard : b.guards) insert_sorted(result.guards, guard);
    // What is left of sum(x) p[x] * c, were p to sum to one, may have no sum that vanishes along.
    for (const TermId term : gone)
        insert_sorted(result.guards, apply(Function::NotEqual, {term, number(0)}));
    std::erase_if(result.guards, [&](TermId guard) {
        const std::optional<TermId> sum = compared_with_zero(guard, Function::NotEqual);
        return sum && vanishes_with(result, *sum);
    });
    // Two sums over one axis have it twice, which is no sum of the product.
    result.deferred.insert(result.deferred.end(), b.deferred.begin(), b.deferred.end());
    std::sort(result.deferred.begin(), result.deferred.end());
    if (result.guards.empty() || !class_of(result.exponent).streamed) return result;
    // A guard beside an exponential belongs into the exponent: 0 * exp(big) is no number.
    std::vector<TermId> kept;
    for (const TermId guard : result.guards) {
        if (class_of(guard).folded)
            kept.push_back(guard);
        else
            result.exponent = add(result.exponent, masked(guard));
    }
    result.guards = std::move(kept);
    return result;
}

Class Algebra::class_of(const Monomial& monomial) const {
    Class result;
    for (const auto& [term, power] : monomial.powers) merge(result, class_of(term));
    for (const TermId guard : monomial.guards) merge(result, class_of(guard));
    if (monomial.exponent != kZero) {
        merge(result, class_of(monomial.exponent));
        result.exponential = true;
        result.infinite = false;
    }
    for (const AxisId axis_id : monomial.deferred) result.axes.erase(axis_id);
    return result;
}

const double* Algebra::as_constant(PolynomialId id) const {
    static constexpr double kNothing = 0;
    const Polynomial& sum = (*this)[id];
    if (sum.terms.empty()) return &kNothing;
    if (sum.terms.size() == 1 && sum.terms.front().first == Monomial{})
        return &sum.terms.front().second;
    return nullptr;
}

std::optional<TermId> Algebra::replaced(TermId term, const Replacements& replacements) {
    Substitution substitution{replacements};
    const TermId result = substitute(term, substitution);
    return substitution.captured ? std::nullopt : std::optional(result);
}

std::optional<PolynomialId> Algebra::replaced(PolynomialId polynomial,
                                              const Replacements& replacements) {
    Substitution substitution{replacements};
    const PolynomialId result = substitute(polynomial, substitution);
    return substitution.captured ? std::nullopt : std::optional(result);
}

TermId Algebra::substitute(TermId id, Substitution& substitution) {
    const auto found = substitution.done.find(id);
    if (found != substitution.done.end()) return found->second;
    Term term = (*this)[id];
    TermId result = id;
    if (term.kind == Kind::Axis) {
        const auto at = substitution.replace.find(AxisId{term.ref});
        if (at != substitution.replace.end()) result = at->second;
    } else {
        for (const AxisId bound : term.bound) {
            if (substitution.replace.contains(bound)) substitution.captured = true;
            for (const auto& [from, to] : substitution.replace)
                if (class_of(to).axes.contains(bound)) substitution.captured = true;
        }
        for (TermId& part : term.parts) part = substitute(part, substitution);
        if (term.kind == Kind::Sum)
            result = term_of(substitute(PolynomialId{term.ref}, substitution));
        else
            result = make(std::move(term));
    }
    substitution.done.emplace(id, result);
    return result;
}

Monomial Algebra::substitute(const Monomial& monomial, Substitution& substitution) {
    Monomial result{.exponent = substitute(monomial.exponent, substitution),
                    .deferred = monomial.deferred};
    for (const auto& [term, power] : monomial.powers)
        result = multiply(result, Monomial{.powers = {{substitute(term, substitution), power}}});
    for (const TermId guard : monomial.guards)
        insert_sorted(result.guards, substitute(guard, substitution));
    for (const AxisId axis_id : monomial.deferred)
        for (const auto& [from, to] : substitution.replace)
            if (from == axis_id || class_of(to).axes.contains(axis_id))
                substitution.captured = true;
    return result;
}

PolynomialId Algebra::substitute(PolynomialId id, Substitution& substitution) {
    const Polynomial source = (*this)[id];
    PolynomialId result = kZero;
    for (const auto& [mono, coefficient] : source.terms)
        result = add(result, monomial(substitute(mono, substitution), coefficient));
    return result;
}

namespace {

/// Whether two terms differ at most in where they are read: P[t] and P[u].
bool same_elsewhere(const Algebra& algebra, TermId one, TermId other) {
    const Term& a = algebra[one];
    const Term& b = algebra[other];
    if (one == other || (a.kind == Kind::Axis && b.kind == Kind::Axis)) return true;
    Term moved = a;
    moved.parts = b.parts;
    return moved == b && a.parts.size() == b.parts.size() &&
           std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(),
                      [&](TermId x, TermId y) { return same_elsewhere(algebra, x, y); });
}

}  // namespace

std::optional<std::size_t> counterpart_of(const Algebra& algebra, const Monomial& product,
                                          std::size_t factor) {
    const auto& [value, power] = product.powers[factor];
    const Class& of = algebra.class_of(value);
    for (std::size_t i = 0; i < product.powers.size() && !of.folded && !of.streamed; ++i) {
        const auto& [other, opposite] = product.powers[i];
        if (opposite * power < 0 && algebra.class_of(other).streamed &&
            same_elsewhere(algebra, value, other))
            return i;
    }
    return std::nullopt;
}

Split split(Algebra& algebra, const Monomial& monomial, const std::vector<AxisId>& inside) {
    const auto stays = [&](const Class& of) {
        if (of.streamed) return true;
        return !of.folded && std::any_of(inside.begin(), inside.end(),
                                         [&](AxisId axis) { return of.axes.contains(axis); });
    };
    Split result;
    for (std::size_t i = 0; i < monomial.powers.size(); ++i) {
        const bool streams = stays(algebra.class_of(monomial.powers[i].first)) ||
                             counterpart_of(algebra, monomial, i).has_value();
        (streams ? result.streamed : result.rest).powers.push_back(monomial.powers[i]);
    }
    Polynomial streamed;
    Polynomial rest;
    const Polynomial exponent = algebra[monomial.exponent];
    const bool varies = algebra.class_of(monomial.exponent).streamed;
    for (const auto& term : exponent.terms) {
        const Class of = algebra.class_of(term.first);
        (of.folded || (!varies && !stays(of)) ? rest : streamed).terms.push_back(term);
    }
    result.streamed.exponent = algebra.make(std::move(streamed));
    result.rest.exponent = algebra.make(std::move(rest));
    // A guard known beforehand stays where the elements are read that it keeps from being read.
    const bool reads = !result.streamed.powers.empty() || result.streamed.exponent != kZero;
    for (const TermId guard : monomial.guards) {
        const Class& of = algebra.class_of(guard);
        (stays(of) || (reads && !of.folded) ? result.streamed : result.rest)
            .guards.push_back(guard);
    }
    result.streamed.deferred = monomial.deferred;
    return result;
}

std::vector<TermId> conditions_of(const Algebra& algebra, const Monomial& monomial) {
    std::vector<TermId> conditions = monomial.guards;
    for (const auto& [mono, coefficient] : algebra[monomial.exponent].terms) {
        if (coefficient > 0 && algebra.is_mask(mono))
            conditions.push_back(algebra[mono.powers.front().first].parts.front());
    }
    std::erase_if(conditions, [&](TermId each) { return algebra.class_of(each).folded; });
    return conditions;
}

std::optional<Monomial> quotient_of(const Monomial& whole, const Monomial& part) {
    Monomial rest = whole;
    if (part.exponent != kZero) {
        if (whole.exponent != part.exponent) return std::nullopt;
        rest.exponent = kZero;
    }
    for (const auto& [term, power] : part.powers) {
        const auto at =
            std::find_if(rest.powers.begin(), rest.powers.end(),
                         [wanted = term](const auto& factor) { return factor.first == wanted; });
        if (at == rest.powers.end()) return std::nullopt;
        const double left = at->second - power;
        if (at->second * power < 0 || left * power < 0) return std::nullopt;
        if (left == 0)
            rest.powers.erase(at);
        else
            at->second = left;
    }
    const bool guarded = std::includes(rest.guards.begin(), rest.guards.end(), part.guards.begin(),
                                       part.guards.end());
    return guarded ? std::optional<Monomial>(rest) : std::nullopt;
}

}  // namespace napkin::separation
