// Exponentials that are summed or multiplied as the user wrote them: whether they may overflow.
#include "derive/separation/judge/judge.h"
#include "derive/separation/judge/numeric_example.h"
#include "derive/separation/judge/saved_bounds.h"

namespace napkin::separation {
namespace {

struct Exponents {
    std::set<PolynomialId> found;
    std::set<TermId> seen;  ///< values that were looked into
};

void exponents_in(const Judged& of, PolynomialId form, Exponents& exponents);

/// Exponents of a value that are formed as the user wrote them, those below a quotient left out:
/// where they are large the quotient is 0.
void exponents_in(const Judged& of, TermId id, Exponents& exponents) {
    if (!exponents.seen.insert(id).second) return;
    const Term term = of.algebra[id];
    if (term.kind == Kind::Sum) return exponents_in(of, PolynomialId{term.ref}, exponents);
    if (term.kind != Kind::Apply) return;
    if (term.function == Function::Exp)
        if (const Form form = of.normal.of(term.parts.front())) exponents.found.insert(*form);
    const bool below = term.function == Function::Rsqrt || term.function == Function::Tanh;
    for (std::size_t i = 0; i < term.parts.size() && !below; ++i)
        if (term.function != Function::Divide || i == 0) exponents_in(of, term.parts[i], exponents);
}

void exponents_in(const Judged& of, PolynomialId form, Exponents& exponents) {
    for (const auto& [mono, coefficient] : Polynomial(of.algebra[form]).terms) {
        if (of.algebra.class_of(mono.exponent).streamed) exponents.found.insert(mono.exponent);
        for (const auto& [factor, power] : mono.powers)
            if (power > 0) exponents_in(of, factor, exponents);
    }
}

/// An exponential that is formed as the user wrote it.
void judge_exponent(const Judged& of, PolynomialId each, const std::string& safer,
                    Judgements& all) {
    const std::string exponent = of.name(of.algebra.term_of(each));
    const std::optional<double> upper = of.cascade.facts().upper(each);
    Obligation made = about(Hazard::Overflow);
    if (upper && *upper <= kLargestExponent) {
        made.text = "the exponent " + exponent + " is at most " + short_number(*upper);
    } else if (of.plan.never_positive(each)) {
        made.text = "the exponent " + exponent + " is at most 0";
    } else if (const auto saved = bounding_array(of.cascade, each)) {
        made.text = "the exponent " + exponent + " is at most 0, since `" +
                    of.diagram[*saved].name + "` was computed from the same values";
        if (const auto bound = rounded_bound(of, each, *saved))
            describe_rounded(of.diagram, made, *bound);
    } else {
        made = unmet(Hazard::Overflow,
                     "the exponential of " + exponent + " is summed as it is written",
                     "at 100 it is infinite in float32", safer);
    }
    all.add(std::move(made));
}

}  // namespace

void judge_exponents(const Judged& of, std::uint32_t state, Judgements& all) {
    const StateVariable& variable = of.plan.states()[state];
    if (variable.gauge != kZero || (variable.monoid != kSum && variable.monoid != kProduct)) return;
    Exponents exponents;
    exponents_in(of, variable.form, exponents);
    for (const PolynomialId each : exponents.found) {
        if (variable.monoid == kSum) {
            judge_exponent(of, each, "", all);
            continue;
        }
        const std::string exponent = of.name(of.algebra.term_of(each));
        all.add(unmet(Hazard::Overflow,
                      "the exponential of " + exponent + " is multiplied as it is written",
                      "at 1, after a hundred elements the product is infinite in float32",
                      "take the exponential of the sum of " + exponent));
    }
}

void judge_running_sums(const Judged& of, Judgements& all) {
    for (const RegionStatement& each : of.cascade.statements()) {
        const Fold* fold = std::get_if<Fold>(&of.diagram[each.statement].body);
        if (each.part != Part::Prefix || fold == nullptr || fold->monoid != kSum) continue;
        Exponents exponents;
        exponents_in(of, of.cascade.lower(fold->values.front()), exponents);
        for (const PolynomialId exponent : exponents.found)
            judge_exponent(of, exponent,
                           "keep the largest exponent beside the sum: `monoid scaled(m, s; k, t) "
                           "= (max(m, k), s * exp(m - max(m, k)) + t * exp(k - max(m, k))) "
                           "identity (-inf, 0)`, then `M[t], S[t] = scan[t] scaled (X[t], 1)`",
                           all);
    }
}

}  // namespace napkin::separation
