// Differences that would cancel.
//
// Multiplying out (a(x) - b(r))^n is legal, and for a near b it subtracts numbers that are almost
// equal: the variance of values around 10^6 would have no digit left. Any value g may be subtracted
// from both, a - b = (a - g) - (b - g), and is exact. Here g is a mean of a, see running_means.cpp
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

#include "derive/separation/algebra/mentions.h"
#include "derive/separation/place/plan.h"
#include "derive/separation/stabilise/invariance.h"
#include "diagrams/contains.h"

namespace napkin::separation {

std::uint32_t Plan::mean_for(MeanGauge wanted) {
    std::sort(wanted.guards.begin(), wanted.guards.end());
    for (std::uint32_t id = 0; id < means_.size(); ++id)
        if (means_[id].value == wanted.value && means_[id].axes == wanted.axes &&
            means_[id].guards == wanted.guards && means_[id].near == wanted.near)
            return id;
    means_.push_back(std::move(wanted));
    return static_cast<std::uint32_t>(means_.size() - 1);
}

TermId Plan::mean_term(std::uint32_t mean) {
    return algebra_.reference(Kind::Mean, mean, means_[mean].axes);
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
        const TermId gauge = finite ? term.parts.front() : written;
        const std::uint32_t fold = algebra_[gauge].ref;
        if (algebra_[gauge].kind != Kind::Fold || fold >= forms_.size() ||
            gauge != algebra_.reference(Kind::Fold, fold, folds_[fold].axes))
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

PolynomialId Plan::relative_to_gauges(PolynomialId streamed, PolynomialId folded,
                                      const std::vector<TermId>& guards, bool multiplied) {
    if (const std::optional<OwnGauge> maximum = maximum_of(streamed, folded)) {
        gauge_folds_.insert(maximum->fold);
        const TermId gauge =
            algebra_.reference(Kind::Fold, maximum->fold, folds_[maximum->fold].axes);
        const TermId rest =
            algebra_.make(Term{.kind = Kind::Relative, .parts = {maximum->value, gauge}});
        // Written as it is subtracted, it cancels; an infinite gauge counts as 0 in `rest` too.
        const PolynomialId relative = algebra_.scale(
            algebra_.add(algebra_.atom(rest), algebra_.atom(maximum->written)), maximum->times);
        const bool others = algebra_.class_of(maximum->others).streamed;
        return algebra_.add(relative,
                            others ? relative_to_gauges(maximum->others, folded, guards, multiplied)
                                   : maximum->others);
    }
    if (!multiplied && !is_gauge_of_part(folded)) return streamed;
    std::set<AxisId> own = algebra_.class_of(streamed).axes;
    const std::set<AxisId>& others = algebra_.class_of(folded).axes;
    MeanGauge wanted{
        .value = {}, .axes = {}, .over = {}, .guards = {}, .near = folds_in(algebra_, folded)};
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
    const RelativeSum made = relative_to_mean(streamed, std::move(wanted));
    for (const std::uint32_t fold : folds_in(algebra_, folded)) relative_.emplace(fold, made.mean);
    return algebra_.add(made.rest, made.gauge);
}

/// A sum relative to a mean of its own, which is like another but for the value.
Plan::RelativeSum Plan::relative_to_mean(PolynomialId sum, MeanGauge like) {
    const Polynomial terms = algebra_[sum];
    const auto& [mono, coefficient] = terms.terms.front();
    const bool bare = terms.terms.size() == 1 && mono.exponent == kZero && mono.guards.empty() &&
                      mono.powers.size() == 1 && mono.powers.front().second == 1;
    const double factor = bare ? coefficient : 1;
    const TermId value = bare ? mono.powers.front().first : algebra_.term_of(sum);
    like.value = value;
    const std::uint32_t id = mean_for(std::move(like));
    const TermId mean = mean_term(id);
    const TermId rest = algebra_.make(Term{.kind = Kind::Relative, .parts = {value, mean}});
    return {.mean = id,
            .rest = algebra_.scale(algebra_.atom(rest), factor),
            .gauge = algebra_.scale(algebra_.atom(mean), factor)};
}

/// Brings the folds that are subtracted to the same means.
void Plan::share_means() {
    invariances_ = find_invariances(cascade_, folds_, forms_);
    for (const Invariance& each : invariances_) {
        const auto serves = [&](const MeanGauge& mean) {
            const auto among = [](const auto& wanted, const auto& all) {
                return std::all_of(wanted.begin(), wanted.end(),
                                   [&](const auto& one) { return contains(all, one); });
            };
            return mean.value == each.value && among(each.axes, mean.axes) &&
                   among(mean.guards, each.guards) &&
                   std::any_of(mean.near.begin(), mean.near.end(),
                               [&](std::uint32_t fold) { return each.folds.contains(fold); });
        };
        const auto known = std::find_if(means_.begin(), means_.end(), serves);
        const std::uint32_t id = known != means_.end()
                                     ? static_cast<std::uint32_t>(known - means_.begin())
                                     : mean_for({.value = each.value,
                                                 .axes = each.axes,
                                                 .over = each.over,
                                                 .guards = each.guards});
        for (const std::uint32_t fold : each.folds) relative_.emplace(fold, id);
    }
    for (const auto& [fold, mean] : relative_)
        if (folds_[fold].monoid == kSum && !folds_[fold].picks)
            forms_[fold] = written_relative(algebra_, forms_[fold], means_[mean].value,
                                            mean_term(mean), false, means_[mean].guards);
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

/// Values relative to a mean beside an exponential of the same values: relative to its gauge.
void Plan::take_gauges() {
    for (std::uint32_t fold = 0; fold < forms_.size(); ++fold) {
        if (folds_[fold].monoid != kSum || folds_[fold].picks) continue;
        PolynomialId result = kZero;
        for (const auto& [mono, coefficient] : Polynomial(algebra_[forms_[fold]]).terms)
            result =
                algebra_.add(result, algebra_.scale(relative_to_gauge(mono, fold), coefficient));
        if (result != forms_[fold]) result = without_sums_of_means(result);
        forms_[fold] = result;
    }
}

/// The difference to a mean or a maximum in a factor, beside which only masks are added.
std::optional<TermId> Plan::relative_in(TermId factor, Kind gauge) const {
    const Term& term = algebra_[factor];
    if (term.kind == Kind::Relative && algebra_[term.parts[1]].kind == gauge) return factor;
    if (term.kind != Kind::Sum) return std::nullopt;
    std::optional<TermId> found;
    for (const auto& [mono, coefficient] : algebra_[PolynomialId{term.ref}].terms) {
        if (algebra_.class_of(mono).infinite) continue;
        const bool bare = coefficient == 1 && mono.exponent == kZero && mono.guards.empty() &&
                          mono.powers.size() == 1 && mono.powers.front().second == 1;
        if (!bare || found) return std::nullopt;
        found = relative_in(mono.powers.front().first, gauge);
        if (!found) return std::nullopt;
    }
    return found;
}

/// Differences to a mean multiplied out: beside the same ones to a maximum, the mean cancels.
PolynomialId Plan::without_sums_of_means(PolynomialId form) {
    const auto is_relative = [&](const std::pair<TermId, double>& factor) {
        const Term& term = algebra_[factor.first];
        const bool whole = factor.second > 0 && factor.second == std::floor(factor.second);
        if (term.kind != Kind::Sum || !whole) return false;
        const auto& terms = algebra_[PolynomialId{term.ref}].terms;
        return std::any_of(terms.begin(), terms.end(), [&](const auto& each) {
            const auto& powers = each.first.powers;
            return powers.size() == 1 && algebra_[powers.front().first].kind == Kind::Mean;
        });
    };
    PolynomialId result = kZero;
    for (const auto& [mono, coefficient] : Polynomial(algebra_[form]).terms) {
        Monomial others = mono;
        const auto sum = std::find_if(others.powers.begin(), others.powers.end(), is_relative);
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
        const std::optional<TermId> difference = relative_in(factor, Kind::Mean);
        if (!difference) continue;
        const Term term = algebra_[*difference];
        const std::optional<OwnGauge> gauge = own_gauge(mono, term.parts[0], fold);
        if (!gauge) continue;
        gauge_folds_.insert(gauge->fold);
        const TermId maximum =
            algebra_.reference(Kind::Fold, gauge->fold, folds_[gauge->fold].axes);
        const TermId moved =
            algebra_.make(Term{.kind = Kind::Relative, .parts = {gauge->value, maximum}});
        const PolynomialId step =
            algebra_.subtract(algebra_.atom(moved), algebra_.atom(*difference));
        const Term whole = algebra_[factor];
        const PolynomialId before =
            whole.kind == Kind::Sum ? PolynomialId{whole.ref} : algebra_.atom(factor);
        PolynomialId factors = algebra_.atom(algebra_.term_of(algebra_.add(before, step)));
        factors = algebra_.add(factors, algebra_.atom(maximum));
        factors = algebra_.subtract(factors, algebra_.atom(term.parts[1]));
        if (gauge->others != kZero) {
            const RelativeSum made =
                relative_to_mean(gauge->others, means_[algebra_[term.parts[1]].ref]);
            factors = algebra_.add(factors, algebra_.add(made.rest, made.gauge));
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
std::optional<TermId> Plan::moving_gauge(TermId factor, double power) const {
    std::optional<TermId> difference = relative_in(factor, Kind::Fold);
    if (!difference) difference = relative_in(factor, Kind::Mean);
    if (!difference || power < 1 || power != std::floor(power)) return std::nullopt;
    const TermId gauge = algebra_[*difference].parts[1];
    const Term& term = algebra_[gauge];
    if (term.kind == Kind::Mean && !means_[term.ref].weight) return std::nullopt;
    return gauge;
}

/// The states that a state relative to what moves is made of then: those of lower powers.
void Plan::add_lower(StateVariable& wanted) {
    if (wanted.monoid != kSum || algebra_[wanted.form].terms.size() != 1) return;
    Monomial others = algebra_[wanted.form].terms.front().first;
    std::vector<std::pair<TermId, double>> factors;
    for (const auto& factor : others.powers)
        if (const std::optional<TermId> gauge = moving_gauge(factor.first, factor.second)) {
            wanted.shifts.emplace_back(*gauge, static_cast<int>(factor.second));
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
        lower.shifts.clear();
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
