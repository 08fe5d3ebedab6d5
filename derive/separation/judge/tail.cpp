// What finite arithmetic could spoil after the last chunk: exponentials that results have, and sums
// of them that are formed relative to the largest.
#include <algorithm>

#include "derive/separation/judge/judge.h"
#include "derive/separation/judge/saved_bounds.h"

namespace napkin::separation {

namespace {

/// Whether a factor of a term may be 0, or nothing says that it is not.
bool may_vanish(const Judged& of, TermId factor) {
    const Term term = of.algebra[factor];
    if (term.kind == Kind::Number || is_at_least_one(of, factor)) return false;
    if (term.kind == Kind::Read) {
        const Array& array = of.diagram[ArrayId{term.ref}];
        return array.role != ArrayRole::Parameter || !(array.value.value_or(0) > 0);
    }
    if (term.kind == Kind::State) {
        const StateVariable& state = of.plan.states()[term.ref];
        if (state.monoid != kSum || state.gauge == kZero) return true;
        const auto& powers = of.algebra[state.form].terms.front().first.powers;
        return std::any_of(powers.begin(), powers.end(), [&](const auto& each) {
            return each.second > 0 && !is_at_least_one(of, each.first);
        });
    }
    const std::optional<double> least =
        of.cascade.facts().upper(of.algebra.scale(of.algebra.atom(factor), -1));
    return !(least && *least < 0);
}

/// A factor without which nothing is left of the terms with that exponent.
std::optional<TermId> vanishing_factor(const Judged& of, const Polynomial& sum,
                                       PolynomialId exponent) {
    std::optional<TermId> found;
    bool positive = true;
    bool stays = false;
    for (const auto& [mono, coefficient] : sum.terms) {
        if (mono.exponent != exponent) continue;
        std::optional<TermId> factor;
        for (const auto& [each, power] : mono.powers)
            if (power > 0 && !factor && may_vanish(of, each)) factor = each;
        positive = positive && coefficient > 0 && of.cascade.facts().nonnegative(mono);
        stays = stays || !factor;
        if (!found) found = factor;
    }
    return stays && positive ? std::nullopt : found;
}

/// Whether an exponent is kept at or below zero by what an earlier region saved.
bool is_bounded_by_saved(const Judged& of, PolynomialId exponent) {
    const std::optional<ArrayId> saved = bounding_array(of.cascade, exponent);
    return saved && !rounded_bound(of, exponent, *saved);
}

}  // namespace

void TailJudge::note(PolynomialId form) {
    std::set<TermId> seen;
    note(form, seen);
}

void TailJudge::note(PolynomialId form, std::set<TermId>& seen) {
    for (const auto& [mono, coefficient] : Polynomial(of_.algebra[form]).terms) {
        if (mono.exponent != kZero) {
            note(mono.exponent, seen);
            const bool bounded = of_.tail.is_bounded(mono.exponent) ||
                                 of_.plan.never_positive(mono.exponent) ||
                                 is_bounded_by_saved(of_, mono.exponent);
            if (!bounded) exponents_.insert(mono.exponent);
        }
        for (const auto& [factor, power] : mono.powers) note(factor, seen);
    }
}

void TailJudge::note(TermId id, std::set<TermId>& seen) {
    if (!seen.insert(id).second) return;
    const Term term = of_.algebra[id];
    if (of_.tail.scaled_sums().contains(id)) scaled_used_.insert(id);
    if (term.kind == Kind::Sum) return note(PolynomialId{term.ref}, seen);
    for (const TermId part : term.parts) note(part, seen);
}

/// A sum relative to its largest exponent vanishes where a factor of just that term does.
void TailJudge::judge_vanishing(PolynomialId sum, Judgements& all) {
    const Polynomial terms = of_.algebra[sum];
    for (const auto& [mono, coefficient] : terms.terms) {
        const std::optional<TermId> factor = vanishing_factor(of_, terms, mono.exponent);
        const auto other =
            std::find_if(terms.terms.begin(), terms.terms.end(),
                         [&](const auto& each) { return each.first.exponent != mono.exponent; });
        if (!factor || other == terms.terms.end()) continue;
        const std::string name = text_(of_.algebra.atom(*factor));
        const std::string whole = text_(sum);
        const std::string fall = text_(of_.algebra.subtract(other->first.exponent, mono.exponent));
        all.add(unmet(
            Hazard::Underflow,
            whole +
                " is formed relative to its largest exponent, which may be that of a "
                "term with the factor " +
                name,
            "where " + name + " is 0 and " + fall + " is -200, every term of it is 0 in float32",
            "give the logarithm of " + name + " and write its exponential"));
        for (const auto& [product, times] : terms.terms)
            for (const auto& [each, power] : product.powers)
                if (of_.algebra[each].kind == Kind::State)
                    all.withdraw_largest_term(of_.algebra[each].ref);
        return;
    }
}

void TailJudge::judge(Judgements& all) {
    for (const TermId gauge : scaled_used_) {
        const PolynomialId sum = of_.tail.scaled_sums().at(gauge);
        Obligation made = about(Hazard::Tail);
        made.text = text_(sum) + " is formed relative to its largest exponent";
        for (const auto& [mono, coefficient] : Polynomial(of_.algebra[sum]).terms) {
            if (mono.exponent == kZero || of_.tail.is_bounded(mono.exponent)) continue;
            made.example = "as it is written, it is infinite in float32 where " +
                           text_(mono.exponent) + " is 100";
            break;
        }
        all.add(std::move(made));
        judge_vanishing(sum, all);
    }
    for (const PolynomialId exponent : exponents_)
        all.add(unmet(Hazard::Tail,
                      "a result is multiplied by the exponential of " + text_(exponent) +
                          ", as it is written",
                      "at 100 it is infinite in float32"));
    const bool gauged = std::any_of(of_.plan.states().begin(), of_.plan.states().end(),
                                    [](const auto& state) { return state.gauge != kZero; });
    if (gauged && scaled_used_.empty() && exponents_.empty())
        all.add(about(Hazard::Tail, "no exponential of large numbers is left there"));
}

}  // namespace napkin::separation
