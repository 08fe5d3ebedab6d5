// Obligations: no exponential overflows, and a sum that is divided by does not underflow.
//
// A fact `E(x) <= r` holds for every r = max_x E. An exponent is safe when replacing each fold that
// is subtracted by such a bound leaves only terms that are never positive; the folds replaced are
// the gauge. Where no such proof exists, the fold is stabilised: g = max_x of the exponent.
#include <algorithm>
#include <cmath>

#include "derive/separation/algebra/mentions.h"
#include "derive/separation/place/plan.h"
#include "diagrams/contains.h"

namespace napkin::separation {
namespace {

constexpr int kDeepest = 8;
/// exp of this times the length of the sum stays well inside float32.
constexpr double kTameExponent = 80;

}  // namespace

/// The values that a maximum bounds, where its running value is the state itself.
std::optional<PolynomialId> Plan::bound_of(std::uint32_t fold) const {
    const FoldOver& entry = folds_[fold];
    if (entry.monoid != kMax || entry.picks) return std::nullopt;
    const Class& of = algebra_.class_of(forms_[fold]);
    if (of.folded || !of.streamed || of.exponential) return std::nullopt;
    return forms_[fold];
}

/// Whether the value can be computed from the states while chunks arrive.
bool Plan::runs(TermId id) const {
    const Term& term = algebra_[id];
    if (term.kind == Kind::Late || term.kind == Kind::State || term.kind == Kind::Mean)
        return false;
    if (term.kind == Kind::Fold && !bound_of(term.ref)) return false;
    if (term.kind == Kind::Sum) {
        for (const auto& [mono, coefficient] : algebra_[PolynomialId{term.ref}].terms)
            for (const auto& [factor, power] : mono.powers)
                if (!runs(factor)) return false;
        return true;
    }
    return std::all_of(term.parts.begin(), term.parts.end(),
                       [&](TermId part) { return runs(part); });
}

std::vector<Plan::LowerBound> Plan::lower_bounds(TermId id, const std::vector<AxisId>& over) {
    const Term term = algebra_[id];
    std::vector<LowerBound> result;
    if (term.kind == Kind::Fold) {
        const std::optional<PolynomialId> bound = bound_of(term.ref);
        if (!bound) return result;
        Algebra::Replacements replacements;
        const std::vector<AxisId>& axes = folds_[term.ref].axes;
        for (std::size_t i = 0; i < axes.size(); ++i)
            if (term.parts[i] != algebra_.axis(axes[i])) replacements[axes[i]] = term.parts[i];
        const std::vector<AxisId>& folded = folds_[term.ref].over;
        const bool attained = std::all_of(folded.begin(), folded.end(),
                                          [&](AxisId axis) { return contains(over, axis); });
        if (const Form value = algebra_.replaced(*bound, replacements))
            result.push_back({*value, attained});
    }
    if (const std::optional<TermId> below = cascade_.maximum_of(id))
        if (const Form form = normal_.of(*below)) result.push_back({*form});
    const bool largest = (term.kind == Kind::Apply && term.function == Function::Max) ||
                         (term.kind == Kind::Inner && MonoidId{term.ref} == kMax);
    if (largest)
        for (const TermId part : term.parts)
            if (const Form form = normal_.of(part)) result.push_back({*form});
    return result;
}

std::optional<Plan::Proof> Plan::prove(PolynomialId exponent, const std::vector<AxisId>& over) {
    return prove(exponent, exponent, over, kDeepest);
}

/// The one factor that is no constant known to be at least 0.
std::optional<std::size_t> Plan::large_factor(const Monomial& product) const {
    if (product.exponent != kZero || !product.guards.empty() || !product.deferred.empty())
        return std::nullopt;
    std::optional<std::size_t> large;
    for (std::size_t i = 0; i < product.powers.size(); ++i) {
        const auto& [factor, power] = product.powers[i];
        const Class& of = algebra_.class_of(factor);
        const bool constant = !of.folded && !of.streamed &&
                              cascade_.facts().nonnegative(Monomial{.powers = {{factor, power}}});
        if (constant && product.powers.size() > 1) continue;
        if (large || power != 1) return std::nullopt;
        large = i;
    }
    return large;
}

/// The bound where the exponent is visible: elsewhere that is -inf anyway.
PolynomialId Plan::without_masks_of(PolynomialId bound, PolynomialId exponent) {
    Polynomial visible = algebra_[bound];
    std::erase_if(visible.terms, [&](const auto& term) {
        const auto& [mono, coefficient] = term;
        const auto& all = algebra_[exponent].terms;
        return coefficient > 0 && algebra_.is_mask(mono) &&
               std::any_of(all.begin(), all.end(), [&mono = mono](const auto& each) {
                   return each.first == mono && each.second > 0;
               });
    });
    return algebra_.make(std::move(visible));
}

std::optional<Plan::Proof> Plan::prove(PolynomialId exponent, PolynomialId original,
                                       const std::vector<AxisId>& over, int depth) {
    const std::optional<double> upper = cascade_.facts().upper(exponent);
    const bool constant = algebra_.as_constant(exponent) != nullptr;
    if (upper && *upper <= 0)
        return Proof{.consumed = kZero, .close = constant, .attained = constant};
    if (depth == 0) return std::nullopt;
    const Polynomial sum = algebra_[exponent];
    std::optional<Proof> best;
    for (const auto& [mono, coefficient] : sum.terms) {
        const std::optional<std::size_t> at = coefficient < 0 ? large_factor(mono) : std::nullopt;
        if (!at) continue;
        const TermId large = mono.powers[*at].first;
        Monomial factor = mono;
        factor.powers.erase(factor.powers.begin() + static_cast<std::ptrdiff_t>(*at));
        // A maximum over another axis bounds too, but nothing is relative to it that moves.
        const bool folded = algebra_.class_of(mono).folded;
        if (folded && !runs(large)) continue;
        const PolynomialId term = algebra_.monomial(mono, coefficient);
        for (const LowerBound& bound : lower_bounds(large, over)) {
            const PolynomialId next =
                algebra_.add(algebra_.subtract(exponent, term),
                             algebra_.multiply(without_masks_of(bound.of, exponent),
                                               algebra_.monomial(factor, coefficient)));
            std::optional<Proof> proof = prove(next, original, over, depth - 1);
            if (!proof) continue;
            proof->close &= folded;
            proof->attained &= folded && bound.attained;
            const Polynomial& first = algebra_[original];
            const bool from_original =
                std::find(first.terms.begin(), first.terms.end(),
                          std::pair<Monomial, double>(mono, coefficient)) != first.terms.end();
            if (from_original && folded) proof->consumed = algebra_.add(proof->consumed, term);
            const auto rank = [](const Proof& of) { return std::pair(of.attained, of.close); };
            if (!best || rank(*proof) > rank(*best)) best = proof;
        }
    }
    return best;
}

/// An exponential of this can neither overflow nor underflow, summed over `over`.
bool Plan::is_tame(PolynomialId exponent, const std::vector<AxisId>& over) const {
    const std::optional<double> upper = cascade_.facts().upper(exponent);
    if (!upper) return false;
    double count = 0;
    for (const AxisId axis : over)
        count +=
            std::log(std::max<double>(1, static_cast<double>(cascade_.diagram()[axis].extent)));
    return *upper + count <= kTameExponent;
}

/// A maximum of the exponent, the user's own where there is one.
PolynomialId Plan::gauge_for(PolynomialId exponent, const std::vector<AxisId>& over,
                             std::uint32_t fold) {
    const Polynomial wanted = algebra_[exponent];
    for (std::uint32_t i = 0; i < folds_.size(); ++i) {
        const std::optional<PolynomialId> bound = bound_of(i);
        if (!bound || algebra_[*bound].terms.empty() || folds_[i].over != over) continue;
        const double factor = wanted.terms.front().second / algebra_[*bound].terms.front().second;
        if (factor > 0 && algebra_.scale(*bound, factor) == exponent)
            return algebra_.scale(algebra_.atom(algebra_.reference(Kind::Fold, i, folds_[i].axes)),
                                  factor);
    }
    std::vector<AxisId> axes;
    for (const AxisId axis : algebra_.class_of(exponent).axes)
        if (std::find(over.begin(), over.end(), axis) == over.end()) axes.push_back(axis);
    // In the order in which the fold itself has them.
    const std::vector<AxisId>& order = folds_[fold].axes;
    std::stable_sort(axes.begin(), axes.end(), [&](AxisId a, AxisId b) {
        return std::find(order.begin(), order.end(), a) < std::find(order.begin(), order.end(), b);
    });
    FoldOver made{.monoid = kMax, .over = over, .axes = axes, .body = algebra_.term_of(exponent)};
    made.statement = folds_[fold].statement;
    folds_.push_back(std::move(made));
    forms_.push_back(exponent);
    const std::uint32_t id = static_cast<std::uint32_t>(folds_.size() - 1);
    return algebra_.atom(algebra_.reference(Kind::Fold, id, axes));
}

/// Axes of the factors and exponent terms that depend on folds.
std::set<AxisId> Plan::folded_axes(const Monomial& monomial) const {
    std::set<AxisId> axes;
    const auto add = [&](const Class& of) {
        if (of.folded) axes.insert(of.axes.begin(), of.axes.end());
    };
    for (const auto& [term, power] : monomial.powers) add(algebra_.class_of(term));
    for (const TermId guard : monomial.guards) add(algebra_.class_of(guard));
    for (const auto& [mono, coefficient] : algebra_[monomial.exponent].terms)
        add(algebra_.class_of(mono));
    return axes;
}

/// Terms of an exponent that do not vary and can wait for the tail, since both exponentials are
/// safe without the other: exp(K - m) * exp(Q - n) of a softmax along x and one along another axis.
PolynomialId Plan::constant_exponent(PolynomialId streamed, PolynomialId rest) {
    PolynomialId constant = kZero;
    for (const auto& [mono, coefficient] : Polynomial(algebra_[streamed]).terms)
        if (const Class of = algebra_.class_of(mono);
            !of.streamed && !of.infinite && mono != Monomial{})
            constant = algebra_.add(constant, algebra_.monomial(mono, coefficient));
    const PolynomialId varying = algebra_.subtract(streamed, constant);
    if (constant == kZero || !algebra_.class_of(varying).streamed || !prove(constant)) return kZero;
    const bool safe = attained_.contains(varying) || prove(algebra_.add(varying, rest));
    return safe ? constant : kZero;
}

/// Whether the fold is divided by another whose gauge leaves an exponential to the tail, which has
/// to meet one of this fold's.
bool Plan::meets_gauge(std::uint32_t fold) {
    const auto leaves = [&](const Monomial& mono, const std::vector<AxisId>& over) {
        const Split parts = split(algebra_, mono, over);
        const PolynomialId varying = parts.streamed.exponent;
        if (!attained_.contains(varying)) return false;
        if (is_tame(varying, over) && is_tame(algebra_.scale(varying, -1), over)) return false;
        return parts.rest.exponent == kZero || !prove(mono.exponent);
    };
    const std::set<std::uint32_t> divisors = folds_[fold].divided_by;
    return std::any_of(divisors.begin(), divisors.end(), [&](std::uint32_t divisor) {
        const Polynomial form = algebra_[forms_[divisor]];
        return folds_[divisor].monoid == kSum &&
               std::any_of(form.terms.begin(), form.terms.end(), [&](const auto& term) {
                   return leaves(term.first, folds_[divisor].over);
               });
    });
}

/// Whether the exponent is of several values, each of which has its own maximum subtracted, in the
/// tail only.
bool Plan::holds_own_maxima(PolynomialId exponent, PolynomialId subtracted) {
    const Polynomial visible = algebra_[without_masks(exponent)];
    std::set<Monomial> left;
    for (const auto& [mono, coefficient] : visible.terms) left.insert(mono);
    int maxima = 0;
    for (const std::uint32_t fold : folds_in(algebra_, subtracted)) {
        const std::optional<PolynomialId> bound = bound_of(fold);
        if (!bound) continue;
        const Polynomial values = algebra_[without_masks(*bound)];
        const bool own = values.terms.size() < visible.terms.size() &&
                         std::all_of(values.terms.begin(), values.terms.end(),
                                     [&](const auto& term) { return left.contains(term.first); });
        if (!own) continue;
        ++maxima;
        for (const auto& [mono, coefficient] : values.terms) left.erase(mono);
    }
    return maxima > 1 && left.empty();
}

Placement Plan::place(const Monomial& monomial, const std::vector<AxisId>& over,
                      std::uint32_t fold) {
    // Axes that a fold or its gauge carries are summed in the tail; constants may wait for that.
    std::vector<AxisId> inside;
    const Class of_rest = algebra_.class_of(split(algebra_, monomial, {}).rest);
    for (const AxisId axis : over) {
        const bool late = of_rest.folded && folded_axes(monomial).contains(axis);
        if (!late) inside.push_back(axis);
    }
    Split parts = split(algebra_, monomial, inside);
    const PolynomialId apart = constant_exponent(parts.streamed.exponent, parts.rest.exponent);
    parts.streamed.exponent = algebra_.subtract(parts.streamed.exponent, apart);
    parts.rest.exponent = algebra_.add(parts.rest.exponent, apart);
    Placement result{.streamed = parts.streamed, .gauge = kZero, .outside = kZero};
    const auto outside = [&](PolynomialId exponent) {
        Monomial rest = parts.rest;
        rest.exponent = exponent;
        return algebra_.monomial(std::move(rest));
    };
    const PolynomialId varying = parts.streamed.exponent;
    if (!algebra_.class_of(varying).streamed && algebra_.as_constant(varying) != nullptr) {
        result.outside = outside(parts.rest.exponent);
        return result;
    }
    const bool tame = is_tame(varying, over);
    const bool bounded_below = is_tame(algebra_.scale(varying, -1), over);
    const bool as_written = parts.rest.exponent == apart;
    const std::optional<Proof> proof =
        as_written ? std::nullopt : prove(algebra_.subtract(monomial.exponent, apart), over);
    const bool must_be_attained = attained_.contains(varying) ||
                                  (as_written && !(tame && bounded_below) && meets_gauge(fold));
    if (as_written && !must_be_attained) {
        // The exponential is formed exactly as the user wrote it, and is as safe.
        result.outside = outside(apart);
        return result;
    }
    const bool repaired = proof && proof->consumed != kZero;
    const auto keep = [&] {
        // exp(e_X - G) with G what the proof consumed; the other folds go to the tail.
        result.gauge = algebra_.scale(proof->consumed, -1);
        result.outside = outside(algebra_.subtract(parts.rest.exponent, proof->consumed));
        return result;
    };
    // Where something else is left of what is divided by, the largest term need not be exp(0).
    if (repaired && (proof->attained || (proof->close && !alone_.contains(varying)))) return keep();
    // Without a bound from below, what is subtracted could overflow in the tail.
    if (tame && (bounded_below || (!must_be_attained && !repaired))) {
        result.outside = outside(parts.rest.exponent);
        return result;
    }
    if (repaired && !must_be_attained) return keep();
    if (!as_written && holds_own_maxima(varying, parts.rest.exponent))
        formed_apart_.insert({fold, varying});
    result.gauge = gauge_for(varying, inside, fold);
    result.outside = outside(algebra_.add(parts.rest.exponent, result.gauge));
    return result;
}

}  // namespace napkin::separation
