// What finite arithmetic could spoil after the last chunk: exponentials that results have, and sums
// of them that are formed relative to the largest.
#include <algorithm>

#include "derive/separation/judge/saved_bounds.h"
#include "derive/separation/write/builder.h"

namespace napkin::separation {

/// Notes which exponentials a result has after the last chunk.
void Builder::note_tail(PolynomialId form) {
    for (const auto& [mono, coefficient] : Polynomial(algebra_[form]).terms) {
        if (mono.exponent != kZero) {
            note_tail(mono.exponent);
            const bool bounded = tail_.is_bounded(mono.exponent) ||
                                 plan_.never_positive(mono.exponent) ||
                                 is_bounded_by_saved(mono.exponent);
            if (!bounded) tail_exponents_.insert(mono.exponent);
        }
        for (const auto& [factor, power] : mono.powers) note_tail(factor);
    }
}

void Builder::note_tail(TermId id) {
    const Term term = algebra_[id];
    if (tail_.scaled_sums().contains(id)) scaled_used_.insert(id);
    if (term.kind == Kind::Sum) return note_tail(PolynomialId{term.ref});
    for (const TermId part : term.parts) note_tail(part);
}

std::string Builder::tail_text(PolynomialId form) {
    return "`" + text_of(expression(form, Where::Tail)) + "`";
}

/// Whether a factor of a term may be 0, or nothing says that it is not.
bool Builder::may_vanish(TermId factor) {
    const Term term = algebra_[factor];
    if (term.kind == Kind::Number || is_at_least_one(factor)) return false;
    if (term.kind == Kind::Read) {
        const Array& array = diagram_[ArrayId{term.ref}];
        return array.role != ArrayRole::Parameter || !(array.value.value_or(0) > 0);
    }
    if (term.kind == Kind::State) {
        const StateVariable& state = plan_.states()[term.ref];
        if (state.monoid != kSum || state.gauge == kZero) return true;
        const auto& powers = algebra_[state.form].terms.front().first.powers;
        return std::any_of(powers.begin(), powers.end(), [&](const auto& each) {
            return each.second > 0 && !is_at_least_one(each.first);
        });
    }
    const std::optional<double> least =
        cascade_.signs().upper(algebra_.scale(algebra_.atom(factor), -1));
    return !(least && *least < 0);
}

/// A factor without which nothing is left of the terms with that exponent.
std::optional<TermId> Builder::vanishing_factor(const Polynomial& sum, PolynomialId exponent) {
    std::optional<TermId> found;
    bool positive = true;
    bool stays = false;
    for (const auto& [mono, coefficient] : sum.terms) {
        if (mono.exponent != exponent) continue;
        std::optional<TermId> factor;
        for (const auto& [each, power] : mono.powers)
            if (power > 0 && !factor && may_vanish(each)) factor = each;
        positive = positive && coefficient > 0 && cascade_.signs().nonnegative(mono);
        stays = stays || !factor;
        if (!found) found = factor;
    }
    return stays && positive ? std::nullopt : found;
}

/// A sum relative to its largest exponent vanishes where a factor of just that term does.
void Builder::oblige_vanishing(PolynomialId sum) {
    const Polynomial terms = algebra_[sum];
    for (const auto& [mono, coefficient] : terms.terms) {
        const std::optional<TermId> factor = vanishing_factor(terms, mono.exponent);
        const auto other =
            std::find_if(terms.terms.begin(), terms.terms.end(),
                         [&](const auto& each) { return each.first.exponent != mono.exponent; });
        if (!factor || other == terms.terms.end()) continue;
        const std::string name = tail_text(algebra_.atom(*factor));
        Obligation made = about(Hazard::Underflow);
        made.met = false;
        made.text = tail_text(sum) +
                    " is formed relative to its largest exponent, which may be that of a term with "
                    "the factor " +
                    name;
        made.example = "where " + name + " is 0 and " +
                       tail_text(algebra_.subtract(other->first.exponent, mono.exponent)) +
                       " is -200, every term of it is 0 in float32";
        made.safer = "give the logarithm of " + name + " and write its exponential";
        oblige(std::move(made));
        return withdraw_largest_terms(sum);
    }
}

/// The largest term of a sum says nothing where that is a part of another, which vanishes.
void Builder::withdraw_largest_terms(PolynomialId sum) {
    for (const auto& [mono, coefficient] : algebra_[sum].terms)
        for (const auto& [factor, power] : mono.powers) {
            const auto array_of = algebra_[factor].kind == Kind::State
                                      ? state_arrays_.find(algebra_[factor].ref)
                                      : state_arrays_.end();
            if (array_of == state_arrays_.end()) continue;
            const std::string claim = largest_term_text("`" + array(array_of->second).name + "`");
            std::erase_if(result_.obligations,
                          [&](const Obligation& each) { return each.met && each.text == claim; });
        }
}

void Builder::oblige_tail() {
    for (const TermId gauge : scaled_used_) {
        const PolynomialId sum = tail_.scaled_sums().at(gauge);
        Obligation made = about(Hazard::Tail);
        made.text = tail_text(sum) + " is formed relative to its largest exponent";
        for (const auto& [mono, coefficient] : Polynomial(algebra_[sum]).terms) {
            if (mono.exponent == kZero || tail_.is_bounded(mono.exponent)) continue;
            made.example = "as it is written, it is infinite in float32 where " +
                           tail_text(mono.exponent) + " is 100";
            break;
        }
        oblige(std::move(made));
        oblige_vanishing(sum);
    }
    for (const PolynomialId exponent : tail_exponents_) {
        Obligation made = about(Hazard::Tail);
        made.met = false;
        made.text = "a result is multiplied by the exponential of " + tail_text(exponent) +
                    ", as it is written";
        made.example = "at 100 it is infinite in float32";
        oblige(std::move(made));
    }
    const bool gauged = std::any_of(plan_.states().begin(), plan_.states().end(),
                                    [](const auto& state) { return state.gauge != kZero; });
    if (gauged && scaled_used_.empty() && tail_exponents_.empty())
        oblige(about(Hazard::Tail, "no exponential of large numbers is left there"));
}

}  // namespace napkin::separation
