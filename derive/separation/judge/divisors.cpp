// Sums that are divided by, or whose logarithm is taken: whether they may be 0 in float32.
#include <algorithm>

#include "derive/separation/judge/judge.h"
#include "derive/separation/judge/saved_bounds.h"

namespace napkin::separation {
namespace {

/// What makes a sum vanish.
struct Vanishing {
    std::string exponent;
    std::string at;
    std::string safer;
};

/// An exponential that makes all terms vanish though no exponent of theirs is seen: behind a
/// rounding, or below a quotient.
std::optional<Vanishing> vanishing(const Judged& of, PolynomialId form);

std::optional<Vanishing> vanishing(const Judged& of, TermId factor, double power) {
    const Term term = of.algebra[factor];
    if (power < 0 && term.kind == Kind::Sum) {
        for (const auto& [mono, coefficient] :
             Polynomial(of.algebra[PolynomialId{term.ref}]).terms) {
            const std::optional<double> upper = of.cascade.facts().upper(mono.exponent);
            if (of.algebra.class_of(mono.exponent).streamed &&
                !(upper && *upper <= kLargestExponent))
                return Vanishing{of.name(of.algebra.term_of(mono.exponent)), "200", ""};
        }
        return std::nullopt;
    }
    const TermId value = of.cascade.behind_rounding(factor);
    const Form form = power > 0 && value != factor ? of.normal.of(value) : std::nullopt;
    std::optional<Vanishing> found = form ? vanishing(of, *form) : std::nullopt;
    if (found) found->safer = "leave " + of.name(factor) + " without a type";
    return found;
}

std::optional<Vanishing> vanishing(const Judged& of, PolynomialId form) {
    std::optional<Vanishing> found;
    for (const auto& [mono, coefficient] : Polynomial(of.algebra[form]).terms) {
        std::optional<Vanishing> one;
        const std::optional<double> least =
            of.cascade.facts().upper(of.algebra.scale(mono.exponent, -1));
        if (of.algebra.class_of(mono.exponent).streamed && !(least && *least <= kLargestExponent))
            one = Vanishing{of.name(of.algebra.term_of(mono.exponent)), "-200", ""};
        for (const auto& [factor, power] : mono.powers)
            if (!one) one = vanishing(of, factor, power);
        if (!one) return std::nullopt;
        if (!found) found = one;
    }
    return found;
}

}  // namespace

void judge_divisor(const Judged& of, std::uint32_t state, const std::string& name,
                   Judgements& all) {
    const StateVariable& variable = of.plan.states()[state];
    const FoldOver& fold = of.plan.folds()[variable.serves];
    if (!fold.divides_alone || variable.monoid != kSum || variable.form == kZero) return;
    const Monomial mono = of.algebra[variable.form].terms.front().first;
    const std::string divides = name + " is divided by or its logarithm is taken";
    if (mono.exponent == kZero && variable.gauge == kZero) {
        if (const std::optional<Vanishing> terms = vanishing(of, variable.form))
            all.add(unmet(
                Hazard::Underflow, divides + ", and each of its terms may be 0 in float32",
                "where every " + terms->exponent + " is " + terms->at + ", it is 0", terms->safer));
        return;
    }
    if (mono.exponent == kZero || !variable.shifts.empty()) return;
    if (variable.gauge == kZero) {
        Obligation made = about(Hazard::Underflow, divides + "; its exponents are bounded");
        if (const auto saved = bounding_array(of.cascade, mono.exponent))
            if (const auto bound = rounded_bound(of, mono.exponent, *saved))
                describe_rounded(of.diagram, made, *bound);
        return all.add(std::move(made));
    }
    std::optional<TermId> small;
    for (const auto& [factor, power] : mono.powers)
        if (power > 0 && !is_at_least_one(of, factor)) small = factor;
    const std::string largest = divides + "; its largest term is exp(0)";
    if (!small) return all.add(about(Hazard::Underflow, largest), state);
    const std::string factor = of.name(*small);
    const bool has_logarithm =
        of.cascade.facts().nonnegative(*small) || of.algebra[*small].kind == Kind::Read;
    all.add(unmet(Hazard::Underflow, largest + " times " + factor,
                  "where " + factor +
                      " is 0 at the largest exponent and 1 at one lower by 200, exp(-200) is 0 in "
                      "float32 and so is the sum",
                  has_logarithm ? "write " + factor + " as a logarithm in the exponent"
                                : "divide by it in a region of its own"));
}

void judge_rounded_divisors(const Judged& of, Judgements& all) {
    for (const ArrayId divisor : of.cascade.rounded_divisors()) {
        const Form form = of.tail.of(*of.cascade.unrounded(divisor));
        const auto vanishes = [&](const auto& term) {
            const auto& powers = term.first.powers;
            return term.first.exponent != kZero ||
                   std::any_of(powers.begin(), powers.end(), [&](const auto& factor) {
                       const Term state = of.algebra[factor.first];
                       if (state.kind != Kind::State || factor.second < 0) return false;
                       const StateVariable& variable = of.plan.states()[state.ref];
                       return variable.monoid == kSum && variable.gauge == kZero &&
                              vanishing(of, variable.form).has_value();
                   });
        };
        const Polynomial sum = form ? of.algebra[*form] : Polynomial{};
        if (sum.terms.empty() || !std::all_of(sum.terms.begin(), sum.terms.end(), vanishes))
            continue;
        const std::string name = "`" + of.diagram[divisor].name + "`";
        all.add(unmet(Hazard::Underflow,
                      name + " is rounded before it is divided by or its logarithm is taken",
                      "where every exponent in it is -200, it is 0 in " +
                          std::string(napkin::name_of(of.diagram[divisor].type)),
                      "leave " + name + " without a type, so that its scale cancels"));
    }
}

}  // namespace napkin::separation
