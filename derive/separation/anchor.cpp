// Differences that would cancel.
//
// Multiplying out (a(x) - b(r))^n is legal, and for a near b it subtracts numbers that are almost
// equal: the variance of values around 10^6 would have no digit left. Any value g may be subtracted
// from both, a - b = (a - g) - (b - g), and is exact. Here g is a mean of a, see moving_anchor.cpp
// for which. Folds that make up b are kept relative to g too: sum(x) X = sum(x) (X - g) + size(x) *
// g, and the g cancels in the tail by algebra. The same is done to sums whose difference does not
// change when a moves (invariance.h), such as E[X^2] - E[X]^2.
//
// Beside an exponential of a that is kept relative to a maximum m of a, the maximum itself is the
// better reference: e^(a-m) (a - m) stays small whatever a is. The state then moves when m does,
//
//   c_j' = exp(m - m') * sum_i binom(j, i) (m - m')^(j-i) c_i,  c_j = sum(x) exp(a - m) (a - m)^j
#include <algorithm>
#include <cmath>

#include "derive/separation/invariance.h"
#include "derive/separation/plan.h"
#include "diagrams/contains.h"

namespace napkin::separation {

std::uint32_t Plan::anchor_for(AnchorVariable wanted) {
    std::sort(wanted.guards.begin(), wanted.guards.end());
    for (std::uint32_t id = 0; id < anchors_.size(); ++id)
        if (anchors_[id].value == wanted.value && anchors_[id].axes == wanted.axes &&
            anchors_[id].guards == wanted.guards && anchors_[id].near == wanted.near)
            return id;
    anchors_.push_back(std::move(wanted));
    return static_cast<std::uint32_t>(anchors_.size() - 1);
}

TermId Plan::anchor_term(std::uint32_t anchor) {
    return algebra_.reference(Kind::Anchor, anchor, anchors_[anchor].axes);
}

/// A maximum of some of the very values, of those that are seen or of all, that is subtracted from
/// them as it stands, or with 0 in its place where it is infinite.
std::optional<Plan::OwnGauge> Plan::maximum_of(PolynomialId streamed, PolynomialId folded) {
    const auto among = [&](PolynomialId values) {
        const auto& all = algebra_[streamed].terms;
        const auto& some = algebra_[values].terms;
        return !some.empty() && std::all_of(some.begin(), some.end(),
                                            [&](const auto& term) { return contains(all, term); });
    };
    for (const auto& [mono, coefficient] : Polynomial(algebra_[folded]).terms) {
        if (mono.powers.size() != 1 || mono.powers.front().second != 1) continue;
        const TermId written = mono.powers.front().first;
        if (algebra_.monomial(mono) != algebra_.atom(written)) continue;
        const Term& term = algebra_[written];
        const bool finite = term.kind == Kind::Apply && term.function == Function::Guard;
        const TermId origin = finite ? term.parts.front() : written;
        const std::uint32_t fold = algebra_[origin].ref;
        if (algebra_[origin].kind != Kind::Fold || fold >= forms_.size() ||
            origin != algebra_.reference(Kind::Fold, fold, folds_[fold].axes))
            continue;
        const std::optional<PolynomialId> bound = bound_of(fold);
        const PolynomialId values = bound ? without_masks(*bound) : kZero;
        if (values == kZero || !among(algebra_.scale(values, -coefficient))) continue;
        return OwnGauge{.fold = fold,
                        .value = algebra_.term_of(values),
                        .others = algebra_.subtract(streamed, algebra_.scale(values, -coefficient)),
                        .written = written,
                        .times = -coefficient};
    }
    return std::nullopt;
}

PolynomialId Plan::without_masks(PolynomialId bound) {
    Polynomial bare = algebra_[bound];
    std::erase_if(bare.terms,
                  [&](const auto& term) { return algebra_.class_of(term.first).infinite; });
    return algebra_.make(std::move(bare));
}

/// The gauge of a part of a stream: what is left of sum(x) (X - mean) is the mean's rounding alone,
/// and counts.
bool Plan::is_gauge_of_part(PolynomialId folded) const {
    const auto& terms = algebra_[folded].terms;
    if (terms.size() != 1 || terms.front().first.powers.size() != 1) return false;
    const auto array = cascade_.arrays_by_term().find(terms.front().first.powers.front().first);
    return array != cascade_.arrays_by_term().end() && cascade_.diagram()[array->second].is_gauge;
}

PolynomialId Plan::centre(PolynomialId streamed, PolynomialId folded,
                          const std::vector<TermId>& guards, bool multiplied) {
    if (const std::optional<OwnGauge> maximum = maximum_of(streamed, folded)) {
        origins_.insert(maximum->fold);
        const TermId origin =
            algebra_.reference(Kind::Fold, maximum->fold, folds_[maximum->fold].axes);
        const TermId rest =
            algebra_.make(Term{.kind = Kind::Centred, .parts = {maximum->value, origin}});
        // Written as it is subtracted, it cancels; an infinite origin counts as 0 in `rest` too.
        const PolynomialId relative = algebra_.scale(
            algebra_.add(algebra_.atom(rest), algebra_.atom(maximum->written)), maximum->times);
        const bool others = algebra_.class_of(maximum->others).streamed;
        return algebra_.add(relative, others ? centre(maximum->others, folded, guards, multiplied)
                                             : maximum->others);
    }
    if (!multiplied && !is_gauge_of_part(folded)) return streamed;
    std::set<AxisId> own = algebra_.class_of(streamed).axes;
    const std::set<AxisId>& others = algebra_.class_of(folded).axes;
    AnchorVariable wanted{
        .value = {}, .axes = {}, .over = {}, .guards = {}, .near = folds_in(folded)};
    for (const TermId guard : guards) {
        const Class& of = algebra_.class_of(guard);
        if (of.folded) continue;
        own.insert(of.axes.begin(), of.axes.end());
        wanted.guards.push_back(guard);
    }
    for (const AxisId axis : others)  // weights may differ along them
        if (!cascade_.is_streamed(axis)) own.insert(axis);
    for (const AxisId axis : own) {
        const bool kept = others.contains(axis) && !cascade_.is_streamed(axis);
        (kept ? wanted.axes : wanted.over).push_back(axis);
    }
    const Anchored made = anchored(streamed, std::move(wanted));
    for (const std::uint32_t fold : folds_in(folded)) relative_.emplace(fold, made.anchor);
    return algebra_.add(made.rest, made.origin);
}

/// A sum relative to an anchor of its own, which is like another but for the value.
Plan::Anchored Plan::anchored(PolynomialId sum, AnchorVariable like) {
    const Polynomial terms = algebra_[sum];
    const auto& [mono, coefficient] = terms.terms.front();
    const bool bare = terms.terms.size() == 1 && mono.exponent == kZero && mono.guards.empty() &&
                      mono.powers.size() == 1 && mono.powers.front().second == 1;
    const double factor = bare ? coefficient : 1;
    const TermId value = bare ? mono.powers.front().first : algebra_.term_of(sum);
    like.value = value;
    const std::uint32_t id = anchor_for(std::move(like));
    const TermId anchor = anchor_term(id);
    const TermId rest = algebra_.make(Term{.kind = Kind::Centred, .parts = {value, anchor}});
    return {.anchor = id,
            .rest = algebra_.scale(algebra_.atom(rest), factor),
            .origin = algebra_.scale(algebra_.atom(anchor), factor)};
}

/// Brings the folds that are subtracted to the same anchors.
void Plan::recentre() {
    invariances_ = find_invariances(cascade_, folds_, forms_);
    for (const Invariance& each : invariances_) {
        const auto serves = [&](const AnchorVariable& anchor) {
            const auto among = [](const auto& wanted, const auto& all) {
                return std::all_of(wanted.begin(), wanted.end(),
                                   [&](const auto& one) { return contains(all, one); });
            };
            return anchor.value == each.value && among(each.axes, anchor.axes) &&
                   among(anchor.guards, each.guards) &&
                   std::any_of(anchor.near.begin(), anchor.near.end(),
                               [&](std::uint32_t fold) { return each.folds.contains(fold); });
        };
        const auto known = std::find_if(anchors_.begin(), anchors_.end(), serves);
        const std::uint32_t id = known != anchors_.end()
                                     ? static_cast<std::uint32_t>(known - anchors_.begin())
                                     : anchor_for({.value = each.value,
                                                   .axes = each.axes,
                                                   .over = each.over,
                                                   .guards = each.guards});
        for (const std::uint32_t fold : each.folds) relative_.emplace(fold, id);
    }
    for (const auto& [fold, anchor] : relative_)
        if (folds_[fold].monoid == kSum && !folds_[fold].picks)
            forms_[fold] = written_relative(algebra_, forms_[fold], anchors_[anchor].value,
                                            anchor_term(anchor), false, anchors_[anchor].guards);
}

/// The maximum that the exponential is kept relative to, where that is a maximum of terms of
/// `value`, and the other terms.
std::optional<Plan::OwnGauge> Plan::own_gauge(const Monomial& mono, TermId value,
                                              std::uint32_t fold) {
    if (!mono.deferred.empty()) return std::nullopt;
    const Polynomial gauge = algebra_[place(mono, folds_[fold].over, fold).gauge];
    if (gauge.terms.size() != 1 || gauge.terms.front().first.powers.size() != 1)
        return std::nullopt;
    const auto [reference, power] = gauge.terms.front().first.powers.front();
    const Term term = algebra_[reference];
    if (term.kind != Kind::Fold || power != 1) return std::nullopt;
    const std::optional<PolynomialId> bound = bound_of(term.ref);
    const PolynomialId streamed = split(algebra_, mono, folds_[fold].over).streamed.exponent;
    const bool same = bound && algebra_.scale(*bound, gauge.terms.front().second) == streamed;
    if (!same) return std::nullopt;
    const PolynomialId bare = without_masks(*bound);  // they add nothing where anything is visible
    if (bare == kZero) return std::nullopt;
    const Term whole = algebra_[value];
    const PolynomialId all =
        whole.kind == Kind::Sum ? PolynomialId{whole.ref} : algebra_.atom(value);
    const PolynomialId others = algebra_.subtract(all, bare);
    const std::size_t left = algebra_[others].terms.size();
    if (left + algebra_[bare].terms.size() != algebra_[all].terms.size()) return std::nullopt;
    return OwnGauge{.fold = term.ref, .value = algebra_.term_of(bare), .others = others};
}

/// Values relative to an anchor beside an exponential of the same values: relative to its gauge.
void Plan::take_gauges() {
    for (std::uint32_t fold = 0; fold < forms_.size(); ++fold) {
        if (folds_[fold].monoid != kSum || folds_[fold].picks) continue;
        PolynomialId result = kZero;
        for (const auto& [mono, coefficient] : Polynomial(algebra_[forms_[fold]]).terms)
            result =
                algebra_.add(result, algebra_.scale(relative_to_gauge(mono, fold), coefficient));
        if (result != forms_[fold]) result = without_sums_of_anchors(result);
        forms_[fold] = result;
    }
}

/// The difference to an anchor or a maximum in a factor, beside which only masks are added.
std::optional<TermId> Plan::centred_in(TermId factor, Kind origin) const {
    const Term& term = algebra_[factor];
    if (term.kind == Kind::Centred && algebra_[term.parts[1]].kind == origin) return factor;
    if (term.kind != Kind::Sum) return std::nullopt;
    std::optional<TermId> found;
    for (const auto& [mono, coefficient] : algebra_[PolynomialId{term.ref}].terms) {
        if (algebra_.class_of(mono).infinite) continue;
        const bool bare = coefficient == 1 && mono.exponent == kZero && mono.guards.empty() &&
                          mono.powers.size() == 1 && mono.powers.front().second == 1;
        if (!bare || found) return std::nullopt;
        found = centred_in(mono.powers.front().first, origin);
        if (!found) return std::nullopt;
    }
    return found;
}

/// Differences to an anchor multiplied out: beside the same ones to a maximum, the anchor cancels.
PolynomialId Plan::without_sums_of_anchors(PolynomialId form) {
    const auto is_anchored = [&](const std::pair<TermId, double>& factor) {
        const Term& term = algebra_[factor.first];
        const bool whole = factor.second > 0 && factor.second == std::floor(factor.second);
        if (term.kind != Kind::Sum || !whole) return false;
        const auto& terms = algebra_[PolynomialId{term.ref}].terms;
        return std::any_of(terms.begin(), terms.end(), [&](const auto& each) {
            const auto& powers = each.first.powers;
            return powers.size() == 1 && algebra_[powers.front().first].kind == Kind::Anchor;
        });
    };
    PolynomialId result = kZero;
    for (const auto& [mono, coefficient] : Polynomial(algebra_[form]).terms) {
        Monomial others = mono;
        const auto sum = std::find_if(others.powers.begin(), others.powers.end(), is_anchored);
        PolynomialId factor = algebra_.constant(coefficient);
        if (sum != others.powers.end()) {
            const PolynomialId base{algebra_[sum->first].ref};
            for (int i = 0; i < static_cast<int>(sum->second); ++i)
                factor = algebra_.multiply(factor, base);
            others.powers.erase(sum);
        }
        result =
            algebra_.add(result, algebra_.multiply(factor, algebra_.monomial(std::move(others))));
    }
    return result;
}

PolynomialId Plan::relative_to_gauge(const Monomial& mono, std::uint32_t fold) {
    for (const auto& [factor, power] : mono.powers) {
        const std::optional<TermId> centred = centred_in(factor, Kind::Anchor);
        if (!centred) continue;
        const Term term = algebra_[*centred];
        const std::optional<OwnGauge> gauge = own_gauge(mono, term.parts[0], fold);
        if (!gauge) continue;
        origins_.insert(gauge->fold);
        const TermId origin = algebra_.reference(Kind::Fold, gauge->fold, folds_[gauge->fold].axes);
        const TermId moved =
            algebra_.make(Term{.kind = Kind::Centred, .parts = {gauge->value, origin}});
        const PolynomialId step = algebra_.subtract(algebra_.atom(moved), algebra_.atom(*centred));
        const Term whole = algebra_[factor];
        const PolynomialId before =
            whole.kind == Kind::Sum ? PolynomialId{whole.ref} : algebra_.atom(factor);
        PolynomialId factors = algebra_.atom(algebra_.term_of(algebra_.add(before, step)));
        factors = algebra_.add(factors, algebra_.atom(origin));
        factors = algebra_.subtract(factors, algebra_.atom(term.parts[1]));
        if (gauge->others != kZero) {
            const Anchored made = anchored(gauge->others, anchors_[algebra_[term.parts[1]].ref]);
            factors = algebra_.add(factors, algebra_.add(made.rest, made.origin));
        }
        Monomial others = mono;
        std::erase(others.powers, std::pair<TermId, double>(factor, power));
        PolynomialId product = algebra_.monomial(std::move(others));
        for (int i = 0; i < static_cast<int>(power); ++i)
            product = algebra_.multiply(product, factors);
        return product;
    }
    return algebra_.monomial(mono);
}

/// What a factor is relative to, where that moves from chunk to chunk.
std::optional<TermId> Plan::moving_origin(TermId factor, double power) const {
    std::optional<TermId> centred = centred_in(factor, Kind::Fold);
    if (!centred) centred = centred_in(factor, Kind::Anchor);
    if (!centred || power < 1 || power != std::floor(power)) return std::nullopt;
    const TermId origin = algebra_[*centred].parts[1];
    const Term& term = algebra_[origin];
    if (term.kind == Kind::Anchor && !anchors_[term.ref].weight) return std::nullopt;
    return origin;
}

/// The states that a state relative to what moves is made of then: those of lower powers.
void Plan::add_lower(StateVariable& wanted) {
    if (wanted.monoid != kSum || algebra_[wanted.form].terms.size() != 1) return;
    Monomial others = algebra_[wanted.form].terms.front().first;
    std::vector<std::pair<TermId, double>> factors;
    for (const auto& factor : others.powers)
        if (const std::optional<TermId> origin = moving_origin(factor.first, factor.second)) {
            wanted.origins.emplace_back(*origin, static_cast<int>(factor.second));
            factors.push_back(factor);
        }
    if (factors.empty()) return;
    for (const auto& factor : factors) std::erase(others.powers, factor);
    std::vector<int> steps(factors.size(), 0);
    const auto next = [&] {  // counts through all combinations of powers
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (++steps[i] <= static_cast<int>(factors[i].second)) return true;
            steps[i] = 0;
        }
        return false;
    };
    while (next()) {
        StateVariable lower = wanted;
        lower.origins.clear();
        lower.lower.clear();
        Monomial form = others;
        double ways = 1;
        for (std::size_t i = 0; i < factors.size(); ++i) {
            const double power = factors[i].second;
            const double kept = power - steps[i];
            for (int k = 0; k < steps[i]; ++k) ways = ways * (power - k) / (k + 1);
            if (kept > 0)
                form = algebra_.multiply(form, Monomial{.powers = {{factors[i].first, kept}}});
        }
        lower.form = algebra_.monomial(std::move(form));
        std::erase_if(lower.axes, [&](AxisId axis) {
            return !algebra_.class_of(lower.form).axes.contains(axis) &&
                   !algebra_.class_of(lower.gauge).axes.contains(axis);
        });
        const PolynomialId state = request(std::move(lower));
        wanted.lower.push_back({algebra_[algebra_.term_of(state)].ref, ways, steps});
    }
}

}  // namespace napkin::separation
