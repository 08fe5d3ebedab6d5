// Which mean a mean is.
//
// The first chunk may tell little of the rest: what sums are weighted by may hold next to nothing
// there, and a mean of one chunk in n may be sqrt(n) deviations off that of all. Then g is far from
// the mean, and the differences that g was to keep small cancel in the tail. So g follows the mean
// by |w| of all chunks so far, where w is what the sums that are subtracted are weighted by, or all
// sums that are relative to g; w is 1 where all of them sum differences alone. They move with it as
// they do with a maximum (means.cpp):
//
//   l' = rho l + sum(x) |w|        g' = (rho l g + sum(x) |w| a) / l'        d = g - g'
//   c_j' = rho * sum_i binom(j, i) d^(j-i) c_i + sum(x) w (a - g')^j
//
// What is moved in is then small or positive: c_1 is about 0, and c_2 grows by d^2 l, as in Chan,
// Golub and LeVeque's updating formula (1979). Multiplying out has made states of all lower powers
// already. Where sums have no weight in common and one of them is of products, sum(x) (a - g) V, to
// move would cost an operation on all that they save: there the mean of the first chunk stays.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "derive/separation/algebra/mentions.h"
#include "derive/separation/place/plan.h"
#include "diagrams/contains.h"

namespace napkin::separation {
/// The factors beside differences, where the mean is mentioned in whole powers of these only.
std::optional<Monomial> Plan::weight_in(const Monomial& streamed, TermId mean) const {
    Monomial weight{
        .powers = streamed.powers, .exponent = streamed.exponent, .guards = streamed.guards};
    std::erase_if(weight.powers, [&](const auto& factor) {
        const bool whole = factor.second > 0 && factor.second == std::floor(factor.second);
        std::optional<TermId> difference = relative_in(factor.first, Kind::Fold);
        if (!difference && whole) difference = relative_in(factor.first, Kind::Mean);
        // A mean of values that are themselves relative to this one does not move with it.
        return difference && !mentions(algebra_, algebra_[*difference].parts.front(), mean);
    });
    if (mentions(algebra_, weight, mean)) return std::nullopt;
    std::erase_if(weight.powers,
                  [&](const auto& factor) { return algebra_.class_of(factor.first).infinite; });
    if (weight.powers.empty()) weight.guards.clear();
    return weight;
}

/// The magnitude of a weight, where it is one.
Monomial Plan::positive(const Monomial& weight) {
    Monomial result{.powers = {}, .exponent = weight.exponent, .guards = weight.guards};
    for (const auto& factor : weight.powers) {
        auto [base, power] = factor;
        const bool even = std::fmod(power, 2) == 0;
        if (!even && !cascade_.facts().nonnegative(base))
            base = algebra_.make(
                Term{.kind = Kind::Apply, .function = Function::Abs, .parts = {base}});
        result = algebra_.multiply(result, Monomial{.powers = {{base, power}}});
    }
    return result;
}

/// Leaves what both have: an exponential, with its gauge, or none of it.
void Plan::keep_common(MeanWeight& weight, const MeanWeight& other) {
    if (weight.factors.exponent != other.factors.exponent || weight.gauge != other.gauge) {
        weight.factors.exponent = kZero;
        weight.gauge = kZero;
    }
    // What other conditions keep is another weight.
    const bool same = weight.factors.guards == other.factors.guards;
    std::erase_if(weight.factors.powers, [&](const auto& factor) {
        return !same || !contains(other.factors.powers, factor);
    });
    if (weight.factors.powers.empty()) weight.factors.guards.clear();
}

/// By what the sums that a mean is near are weighted, or else all that are relative to it;
/// nothing where one of those could not move.
std::optional<Plan::MeanWeight> Plan::weight_of(std::uint32_t mean) {
    const TermId term = mean_term(mean);
    const std::set<std::uint32_t>& near = means_[mean].near;
    std::optional<MeanWeight> means;
    std::optional<MeanWeight> all;
    bool unweighted = true;
    std::map<std::uint32_t, std::set<PolynomialId>> exponents;
    for (std::uint32_t fold = 0; fold < forms_.size(); ++fold) {
        if (folds_[fold].monoid != kSum || folds_[fold].picks) continue;
        for (const auto& [mono, coefficient] : Polynomial(algebra_[forms_[fold]]).terms) {
            Monomial bare = mono;
            std::vector<AxisId> over = folds_[fold].over;
            over.insert(over.end(), mono.deferred.begin(), mono.deferred.end());
            bare.deferred.clear();
            const Placement placed = place(bare, over, fold);
            if (!mentions(algebra_, placed.streamed, term)) continue;
            const std::optional<Monomial> weight = weight_in(placed.streamed, term);
            if (!weight || stored_factor(placed.streamed, fold) ||
                mentions(algebra_, placed.gauge, term))
                return std::nullopt;
            const MeanWeight here{.factors = *weight, .gauge = placed.gauge};
            unweighted = unweighted && here.factors == Monomial{} && here.gauge == kZero;
            if (weight->exponent != kZero) exponents[fold].insert(weight->exponent);
            for (auto* each : {&all, near.contains(fold) ? &means : nullptr}) {
                if (each == nullptr) continue;
                if (!*each) *each = here;
                keep_common(**each, here);
            }
        }
    }
    // Weights by two exponentials have two sums, in whose quotient no mean cancels.
    for (MultipliedOut& each : multiplied_out_)
        if (exponents[each.fold].size() > 1) each.relative = false;
    std::optional<MeanWeight>& shared = means ? means : all;
    // Products with other factors would all have to move, by a weight that they do not have.
    if (shared && shared->factors == Monomial{} && !unweighted) return std::nullopt;
    return shared;
}

void Plan::weigh_means() {
    for (std::uint32_t mean = 0; mean < means_.size(); ++mean) {
        std::optional<MeanWeight> shared = weight_of(mean);
        if (!shared) continue;
        MeanGauge& variable = means_[mean];
        const auto fits = [&](const Class& of) {
            return std::all_of(of.axes.begin(), of.axes.end(), [&](AxisId axis) {
                return contains(variable.axes, axis) || contains(variable.over, axis);
            });
        };
        std::erase_if(shared->factors.powers,
                      [&](const auto& factor) { return !fits(algebra_.class_of(factor.first)); });
        if (shared->factors.powers.empty()) shared->factors.guards.clear();
        if (!fits(algebra_.class_of(shared->factors.exponent)) ||
            !fits(algebra_.class_of(shared->gauge)))
            continue;
        Monomial weight =
            algebra_.multiply(positive(shared->factors), Monomial{.guards = variable.guards});
        if (shared->gauge != kZero)
            for (const TermId hidden : conditions_of(algebra_, {.exponent = weight.exponent}))
                std::erase(weight.guards, hidden);
        variable.weight = std::move(weight);
        variable.gauge = shared->gauge;
    }
}

std::uint32_t Plan::weight_state(std::uint32_t mean) {
    const MeanGauge& variable = means_[mean];
    StateVariable wanted{.monoid = kSum,
                         .over = variable.over,
                         .form = algebra_.monomial(*variable.weight),
                         .gauge = variable.gauge};
    const std::set<AxisId>& of_gauge = algebra_.class_of(variable.gauge).axes;
    for (const AxisId axis : variable.axes)
        if (of_gauge.contains(axis) || algebra_.class_of(wanted.form).axes.contains(axis))
            wanted.axes.push_back(axis);
    for (std::uint32_t fold = 0; fold < forms_.size(); ++fold)
        if (mentions(algebra_, forms_[fold], mean_term(mean))) wanted.serves = fold;
    const std::uint32_t state = algebra_[algebra_.term_of(request(std::move(wanted)))].ref;
    states_[state].weighs = true;
    return state;
}

}  // namespace napkin::separation
