// What finite arithmetic could spoil in the accumulator as it was written, checked against what was
// written: each obligation is met, or is said not to be, with an example.
#include <algorithm>

#include "derive/separation/judge/numeric_example.h"
#include "derive/separation/judge/refusal.h"
#include "derive/separation/judge/saved_bounds.h"
#include "derive/separation/write/builder.h"

namespace napkin::separation {
namespace {

constexpr double kLargestExponent = 88;  ///< of float32: exp(89) is infinite

}  // namespace

Obligation about(Hazard hazard, std::string text) {
    Obligation made;
    made.hazard = hazard;
    made.text = std::move(text);
    return made;
}

void Builder::oblige(Obligation obligation) {
    std::vector<Obligation>& all = result_.obligations;
    if (std::find(all.begin(), all.end(), obligation) == all.end())
        all.push_back(std::move(obligation));
}

/// A value in the user's names.
std::string Builder::name_of_term(TermId term) {
    return "`" + term_text(cascade_, term) + "`";
}

/// Whether a gauge is subtracted from the very values that it is the maximum of.
void Builder::oblige_operand(PolynomialId gauge, bool same) {
    const std::string name = "`" + array(state_arrays_.at(*gauge_states(gauge).begin())).name + "`";
    Obligation made = about(Hazard::Operand);
    made.met = same;
    made.text = name + (same ? " is subtracted from the very values that it is the maximum of"
                             : " is subtracted from an equal value that is computed another way");
    if (!same) {
        made.example =
            "scores of 10^4 may differ by 0.001 in float32, and the exponent rise to that";
        made.safer = "give the exponent a name and use it in the maximum too";
    }
    oblige(std::move(made));
}

std::set<std::uint32_t> Builder::gauge_states(PolynomialId gauge) {
    std::set<std::uint32_t> states;
    for (const std::uint32_t fold : plan_.folds_in(gauge)) states.insert(plan_.gauge_state(fold));
    return states;
}

/// An exponential that makes all terms vanish though no exponent of theirs is seen: behind a
/// rounding, or below a quotient.
std::optional<Builder::Vanishing> Builder::vanishing(PolynomialId form) {
    std::optional<Vanishing> found;
    for (const auto& [mono, coefficient] : Polynomial(algebra_[form]).terms) {
        std::optional<Vanishing> one;
        const std::optional<double> least =
            cascade_.signs().upper(algebra_.scale(mono.exponent, -1));
        if (algebra_.class_of(mono.exponent).streamed && !(least && *least <= kLargestExponent))
            one = Vanishing{name_of_term(algebra_.term_of(mono.exponent)), "-200", ""};
        for (const auto& [factor, power] : mono.powers)
            if (!one) one = vanishing(factor, power);
        if (!one) return std::nullopt;
        if (!found) found = one;
    }
    return found;
}

std::optional<Builder::Vanishing> Builder::vanishing(TermId factor, double power) {
    const Term term = algebra_[factor];
    if (power < 0 && term.kind == Kind::Sum) {
        for (const auto& [mono, coefficient] : Polynomial(algebra_[PolynomialId{term.ref}]).terms) {
            const std::optional<double> upper = cascade_.signs().upper(mono.exponent);
            if (algebra_.class_of(mono.exponent).streamed && !(upper && *upper <= kLargestExponent))
                return Vanishing{name_of_term(algebra_.term_of(mono.exponent)), "200", ""};
        }
        return std::nullopt;
    }
    const TermId value = cascade_.behind_rounding(factor);
    const Form form = power > 0 && value != factor ? normal_.of(value) : std::nullopt;
    std::optional<Vanishing> found = form ? vanishing(*form) : std::nullopt;
    if (found) found->safer = "leave " + name_of_term(factor) + " without a type";
    return found;
}

/// The values of which the term is the largest, or is made of the largest.
std::vector<TermId> Builder::scaled_by(TermId id) {
    const Term term = algebra_[id];
    std::vector<TermId> values;
    if (term.kind == Kind::Fold && plan_.folds()[term.ref].monoid == kMax &&
        !plan_.folds()[term.ref].picks) {
        const TermId body = plan_.folds()[term.ref].body;
        const Term& outermost = algebra_[body];
        const bool absolute = outermost.kind == Kind::Apply && outermost.function == Function::Abs;
        values.push_back(absolute ? outermost.parts.front() : body);
    }
    for (const TermId part : term.parts)
        for (const TermId value : scaled_by(part)) values.push_back(value);
    return values;
}

/// Two factors of a product, each divided by its largest value.
std::optional<Builder::Scale> Builder::lost_scale(const Monomial& product) {
    Monomial left = product;
    int scaled = 0;
    for (const auto& [divisor, power] : product.powers) {
        if (power >= 0 || !algebra_.class_of(divisor).folded) continue;
        for (const TermId value : scaled_by(divisor)) {
            const Form form = normal_.of(value);
            if (!form || algebra_[*form].terms.size() != 1) continue;
            const Monomial factor = algebra_[*form].terms.front().first;
            if (!algebra_.class_of(factor).streamed) continue;
            for (double times = -power; times >= 1; --times) {
                const std::optional<Monomial> rest = quotient_of(left, factor);
                if (!rest) break;
                left = *rest;
                if (++scaled == 2) return Scale{value, divisor};
            }
        }
    }
    return std::nullopt;
}

/// A square of what is divided by its largest value: what is summed is the square alone.
void Builder::oblige_scales() {
    for (std::uint32_t i = 0; i < plan_.folds().size(); ++i) {
        const FoldOver& fold = plan_.folds()[i];
        if (fold.monoid != kSum || fold.picks) continue;
        for (const auto& [mono, coefficient] : Polynomial(algebra_[plan_.form(i)]).terms) {
            const std::optional<Scale> lost = lost_scale(mono);
            if (!lost) continue;
            const std::string scale = name_of_term(lost->scale);
            Obligation made = about(Hazard::Scale);
            made.met = false;
            made.text = name_of_term(fold.body) + " is summed without " + scale +
                        ", which is only divided by after the last chunk";
            made.example = "where " + name_of_term(lost->value) +
                           " is 1e20, a product of two is infinite in float32";
            const auto known = cascade_.arrays_by_term().find(lost->scale);
            const bool named =
                known != cascade_.arrays_by_term().end() && diagram_[known->second].named;
            made.safer = named ? "put " + scale + " in a region of its own"
                               : "give " + scale +
                                     " a statement of its own, and put that in a region of its own";
            oblige(std::move(made));
        }
    }
}

/// What is rounded to a type after the last chunk and then divided by.
void Builder::oblige_rounded_divisors() {
    for (const ArrayId divisor : cascade_.rounded_divisors()) {
        const Form form = tail_.of(*cascade_.unrounded(divisor));
        const auto vanishes = [&](const auto& term) {
            const auto& powers = term.first.powers;
            return term.first.exponent != kZero ||
                   std::any_of(powers.begin(), powers.end(), [&](const auto& factor) {
                       const Term state = algebra_[factor.first];
                       if (state.kind != Kind::State || factor.second < 0) return false;
                       const StateVariable& variable = plan_.states()[state.ref];
                       return variable.monoid == kSum && variable.gauge == kZero &&
                              vanishing(variable.form).has_value();
                   });
        };
        const Polynomial sum = form ? algebra_[*form] : Polynomial{};
        if (sum.terms.empty() || !std::all_of(sum.terms.begin(), sum.terms.end(), vanishes))
            continue;
        const std::string name = "`" + diagram_[divisor].name + "`";
        Obligation made = about(Hazard::Underflow);
        made.met = false;
        made.text = name + " is rounded before it is divided by or its logarithm is taken";
        made.example = "where every exponent in it is -200, it is 0 in " +
                       std::string(napkin::name_of(diagram_[divisor].type));
        made.safer = "leave " + name + " without a type, so that its scale cancels";
        oblige(std::move(made));
    }
}

/// Whether a factor of a sum's terms cannot make them vanish.
bool Builder::is_at_least_one(TermId factor) {
    const Term& term = algebra_[factor];
    return term.kind == Kind::Size ||
           (term.kind == Kind::Read && is_saved_sum_from_maximum(diagram_, ArrayId{term.ref}));
}

std::string Builder::largest_term_text(const std::string& name) {
    return name + " is divided by or its logarithm is taken; its largest term is exp(0)";
}

/// A sum that is divided by, or whose logarithm is taken, with exponentials in it.
void Builder::oblige_divisor(std::uint32_t state) {
    const StateVariable& variable = plan_.states()[state];
    const FoldOver& fold = plan_.folds()[variable.serves];
    if (!fold.divides_alone || variable.monoid != kSum || variable.form == kZero) return;
    const Monomial mono = algebra_[variable.form].terms.front().first;
    Obligation made = about(Hazard::Underflow);
    const std::string name = "`" + array(state_arrays_.at(state)).name + "`";
    if (mono.exponent == kZero && variable.gauge == kZero) {
        const std::optional<Vanishing> terms = vanishing(variable.form);
        if (!terms) return;
        made.met = false;
        made.text = name +
                    " is divided by or its logarithm is taken, and each of its terms may "
                    "be 0 in float32";
        made.example = "where every " + terms->exponent + " is " + terms->at + ", it is 0";
        made.safer = terms->safer;
        return oblige(std::move(made));
    }
    if (mono.exponent == kZero || !variable.shifts.empty()) return;
    if (variable.gauge == kZero) {
        made.text = name + " is divided by or its logarithm is taken; its exponents are bounded";
        if (const auto saved = bounding_array(cascade_, mono.exponent))
            if (const auto bound = rounded_bound(mono.exponent, *saved))
                describe_rounded(made, *bound);
        return oblige(std::move(made));
    }
    std::optional<TermId> vanishing;
    for (const auto& [factor, power] : mono.powers)
        if (power > 0 && !is_at_least_one(factor)) vanishing = factor;
    made.text = largest_term_text(name);
    if (vanishing) {
        const std::string factor = name_of_term(*vanishing);
        made.met = false;
        made.text += " times " + factor;
        made.example = "where " + factor +
                       " is 0 at the largest exponent and 1 at one lower by 200, exp(-200) is 0 "
                       "in float32 and so is the sum";
        made.safer =
            cascade_.signs().nonnegative(*vanishing) || algebra_[*vanishing].kind == Kind::Read
                ? "write " + factor + " as a logarithm in the exponent"
                : "divide by it in a region of its own";
    }
    oblige(std::move(made));
}

/// Exponents of a value that are formed as the user wrote them, those below a quotient left out:
/// where they are large the quotient is 0.
void Builder::exponents_in(TermId id, std::set<PolynomialId>& exponents) {
    const Term term = algebra_[id];
    if (term.kind == Kind::Sum) return exponents_in(PolynomialId{term.ref}, exponents);
    if (term.kind != Kind::Apply) return;
    if (term.function == Function::Exp)
        if (const Form form = normal_.of(term.parts.front())) exponents.insert(*form);
    const bool below = term.function == Function::Rsqrt || term.function == Function::Tanh;
    for (std::size_t i = 0; i < term.parts.size() && !below; ++i)
        if (term.function != Function::Divide || i == 0) exponents_in(term.parts[i], exponents);
}

void Builder::exponents_in(PolynomialId form, std::set<PolynomialId>& exponents) {
    for (const auto& [mono, coefficient] : Polynomial(algebra_[form]).terms) {
        if (algebra_.class_of(mono.exponent).streamed) exponents.insert(mono.exponent);
        for (const auto& [factor, power] : mono.powers)
            if (power > 0) exponents_in(factor, exponents);
    }
}

/// An exponential that is formed as the user wrote it.
void Builder::oblige_exponent(PolynomialId each, const std::string& safer) {
    const std::string exponent = name_of_term(algebra_.term_of(each));
    const std::optional<double> upper = cascade_.signs().upper(each);
    Obligation made = about(Hazard::Overflow);
    if (upper && *upper <= kLargestExponent) {
        made.text = "the exponent " + exponent + " is at most " + short_number(*upper);
    } else if (plan_.never_positive(each)) {
        made.text = "the exponent " + exponent + " is at most 0";
    } else if (const auto saved = bounding_array(cascade_, each)) {
        made.text = "the exponent " + exponent + " is at most 0, since `" + diagram_[*saved].name +
                    "` was computed from the same values";
        if (const auto bound = rounded_bound(each, *saved)) describe_rounded(made, *bound);
    } else {
        made.met = false;
        made.text = "the exponential of " + exponent + " is summed as it is written";
        made.example = "at 100 it is infinite in float32";
        made.safer = safer;
    }
    oblige(std::move(made));
}

void Builder::oblige_exponents(std::uint32_t state) {
    const StateVariable& variable = plan_.states()[state];
    if (variable.gauge != kZero || (variable.monoid != kSum && variable.monoid != kProduct)) return;
    std::set<PolynomialId> exponents;
    exponents_in(variable.form, exponents);
    for (const PolynomialId each : exponents) {
        if (variable.monoid == kSum) {
            oblige_exponent(each);
            continue;
        }
        const std::string exponent = name_of_term(algebra_.term_of(each));
        Obligation made = about(Hazard::Overflow);
        made.met = false;
        made.text = "the exponential of " + exponent + " is multiplied as it is written";
        made.example = "at 1, after a hundred elements the product is infinite in float32";
        made.safer = "take the exponential of the sum of " + exponent;
        oblige(std::move(made));
    }
}

/// What a running sum sums is never repaired.
void Builder::oblige_running() {
    for (const RegionStatement& each : cascade_.statements()) {
        const Fold* fold = std::get_if<Fold>(&diagram_[each.statement].body);
        if (each.part != Part::Prefix || fold == nullptr || fold->monoid != kSum) continue;
        std::set<PolynomialId> exponents;
        exponents_in(cascade_.lower(fold->values.front()), exponents);
        for (const PolynomialId exponent : exponents)
            oblige_exponent(exponent,
                            "keep the largest exponent beside the sum: `monoid scaled(m, s; k, t) "
                            "= (max(m, k), s * exp(m - max(m, k)) + t * exp(k - max(m, k))) "
                            "identity (-inf, 0)`, then `M[t], S[t] = scan[t] scaled (X[t], 1)`");
    }
}

}  // namespace napkin::separation
