// Differences that are multiplied out, and what finite arithmetic loses by that.
#include "derive/separation/place/plan.h"

namespace napkin::separation {

/// Keeps what a fold is multiplied out, to say what the products would lose.
void Plan::note_multiplied_out(std::uint32_t fold, PolynomialId form, bool relative) {
    const Class& of = algebra_.class_of(form);
    if (algebra_[form].terms.size() < 2 || !of.mixed()) return;
    const std::vector<TermId> differences = bare_differences(folds_[fold].body);
    if (differences.size() > 1 || (differences.size() == 1 && folds_[fold].divides_alone))
        small_factors_.push_back({fold, differences.front(), differences.size() > 1});
    std::set<TermId> values;
    for (const auto& [mono, coefficient] : algebra_[form].terms)
        for (const auto& [factor, power] : mono.powers) {
            if (algebra_[factor].kind == Kind::Relative)
                values.insert(algebra_[factor].parts.front());
            else if (!relative && power > 1 && algebra_.class_of(factor).streamed)
                values.insert(factor);
        }
    const Form plain = normal_.of(folds_[fold].body);
    normal_.forget_obstacle();
    for (const TermId value : values)
        if (plain) multiplied_out_.push_back({fold, *plain, value, relative});
}

/// The first two differences among the factors of a product whose terms are multiplied out with
/// nothing taken off: where both are small, their product is the difference of large ones.
std::vector<TermId> Plan::bare_differences(TermId id) {
    const auto [known, fresh] = bare_differences_.try_emplace(id);
    if (!fresh) return known->second;
    const Term term = algebra_[id];
    const bool call = term.kind == Kind::Apply;
    std::vector<TermId> found;
    const auto take = [&](TermId part) {
        for (const TermId each : bare_differences(part))
            if (found.size() < 2) found.push_back(each);
    };
    if (call && (term.function == Function::Divide || term.function == Function::Negate)) {
        take(term.parts.front());
    } else if (call && term.function == Function::Multiply) {
        for (const TermId part : term.parts) take(part);
    } else if (call && term.function == Function::Power &&
               algebra_[term.parts.back()].kind == Kind::Number) {
        for (int i = 0; i < algebra_[term.parts.back()].number && i < 2; ++i)
            take(term.parts.front());
    } else if (call && term.function == Function::Select) {
        take(term.parts[1]);
        if (found.size() < 2) found = bare_differences(term.parts[2]);
    } else if (is_bare_difference(id)) {
        found.push_back(id);
    }
    return bare_differences_[id] = found;
}

/// Whether terms of a difference of streamed and folded values are multiplied out with nothing
/// taken off, or two values that may be near each other with a mean each.
bool Plan::is_bare_difference(TermId id) {
    Form form = relative_form_.of(id);
    relative_form_.forget_obstacle();
    if (!form || !algebra_.class_of(*form).mixed()) return false;
    form = relative_form_.relative_to_maximum(*form);
    bool above = false;
    bool below = false;
    bool plain = false;
    int products = 0;
    int relative = 0;
    for (const auto& [mono, coefficient] : algebra_[*form].terms) {
        (coefficient > 0 ? above : below) = true;
        const Class& of = algebra_.class_of(mono);
        if (of.mixed())
            ++products;
        else if (mono.powers.size() == 1 &&
                 algebra_[mono.powers.front().first].kind == Kind::Relative)
            ++relative;
        else
            plain |= of.streamed && !of.infinite && mono.exponent == kZero;
    }
    const bool several = products + relative + (plain ? 1 : 0) > 1;
    return above && below && (several || products > 0);
}

}  // namespace napkin::separation
