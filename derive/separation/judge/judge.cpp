#include "derive/separation/judge/judge.h"

#include "derive/separation/judge/refusal.h"
#include "derive/separation/judge/saved_bounds.h"
#include "diagrams/contains.h"

namespace napkin::separation {

/// What is longer than anybody reads is cut.
std::string Judged::name(TermId term) const {
    constexpr std::size_t kLong = 200;
    if (algebra.class_of(term).length > kLong) return "a long formula";
    std::string text = term_text(cascade, term);
    if (text.size() > kLong) text = text.substr(0, text.rfind(' ', kLong)) + " ...";
    return "`" + text + "`";
}

void Judgements::add(Obligation made, std::optional<std::uint32_t> largest_term_of) {
    if (contains(all_, made)) return;
    all_.push_back(std::move(made));
    largest_term_of_.push_back(largest_term_of);
}

void Judgements::withdraw_largest_term(std::uint32_t state) {
    for (std::size_t i = all_.size(); i-- > 0;) {
        if (largest_term_of_[i] != state) continue;
        all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
        largest_term_of_.erase(largest_term_of_.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

Obligation about(Hazard hazard, std::string text) {
    return {hazard, true, std::move(text), {}, {}};
}

Obligation unmet(Hazard hazard, std::string text, std::string example, std::string safer) {
    return {hazard, false, std::move(text), std::move(example), std::move(safer)};
}

Obligation same_operand(const std::string& name, bool same) {
    if (same)
        return about(Hazard::Operand,
                     name + " is subtracted from the very values that it is the maximum of");
    return unmet(Hazard::Operand,
                 name + " is subtracted from an equal value that is computed another way",
                 "scores of 10^4 may differ by 0.001 in float32, and the exponent rise to that",
                 "give the exponent a name and use it in the maximum too");
}

bool is_at_least_one(const Judged& of, TermId factor) {
    const Term& term = of.algebra[factor];
    return term.kind == Kind::Size ||
           (term.kind == Kind::Read && is_saved_sum_from_maximum(of.diagram, ArrayId{term.ref}));
}

}  // namespace napkin::separation
