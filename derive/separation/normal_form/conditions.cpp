// Rules of the normal form for branches: values under a condition, and masks.
#include <algorithm>

#include "derive/separation/algebra/mentions.h"
#include "derive/separation/normal_form/normal_form.h"
#include "diagrams/contains.h"
#include "diagrams/infinity.h"

namespace napkin::separation {

TermId NormalForm::negation(TermId condition) {
    const Term& term = algebra_[condition];
    if (term.kind == Kind::Apply && term.function == Function::Not) return term.parts.front();
    return algebra_.apply(Function::Not, {condition});
}

PolynomialId NormalForm::guarded(PolynomialId polynomial, TermId condition) {
    const Polynomial source = algebra_[polynomial];
    PolynomialId result = kZero;
    const Monomial guard{.guards = {condition}};
    for (const auto& [mono, coefficient] : source.terms) {
        PolynomialId term = kZero;
        if (coefficient > 0 && algebra_.is_mask(mono)) {
            const TermId visible = algebra_[mono.powers.front().first].parts.front();
            term = algebra_.masked(algebra_.apply(Function::Or, {negation(condition), visible}));
        } else {
            term = algebra_.monomial(algebra_.multiply(mono, guard), coefficient);
        }
        result = algebra_.add(result, term);
    }
    return result;
}

/// The term where the condition is known: branches that it decides are taken.
TermId NormalForm::assuming(TermId id, TermId condition, bool holds) {
    const Term known = algebra_[condition];
    const bool call = known.kind == Kind::Apply;
    if (call && known.function == Function::Not) return assuming(id, known.parts.front(), !holds);
    const auto seen = assumed_.find({id, condition, holds});
    if (seen != assumed_.end()) return seen->second;
    const TermId whole = id;
    Term term = algebra_[id];
    if (term.kind == Kind::Apply && term.function == Function::Select &&
        term.parts.front() == condition)
        return assuming(term.parts[holds ? 1 : 2], condition, holds);
    if (term.kind == Kind::Apply || term.kind == Kind::Convert) {
        for (TermId& part : term.parts) part = assuming(part, condition, holds);
        id = algebra_.make(std::move(term));
    }
    if (call && known.function == (holds ? Function::And : Function::Or))
        for (const TermId part : known.parts)  // all of them hold, or none does
            id = assuming(id, part, holds);
    return assumed_[{whole, condition, holds}] = id;
}

/// A branch's value whose elements can be read without its condition, where no chunk has a part in
/// them: such a factor leaves the sum over what the condition keeps. Within the branches of the
/// condition that an element has then it stands as it is: the first `within` of read_apart_.
TermId NormalForm::readable(TermId id, std::size_t within) {
    Term term = algebra_[id];
    if (!apart_) return id;
    if (term.kind == Kind::Read || term.kind == Kind::Late || term.kind == Kind::Fold) {
        const auto end = read_apart_.begin() + static_cast<std::ptrdiff_t>(within);
        if (algebra_.class_of(id).streamed || std::find(read_apart_.begin(), end, id) != end)
            return id;
        const TermId apart = apart_(id);
        if (apart != id) read_apart_.push_back(id);
        return apart;
    }
    if (term.kind != Kind::Apply && term.kind != Kind::Convert && term.kind != Kind::Inner)
        return id;
    for (TermId& part : term.parts) part = readable(part, within);
    return algebra_.make(std::move(term));
}

/// (if c then u else 0) * v as if c then u * v else 0, so that v is only looked at where c holds.
std::optional<TermId> NormalForm::under_condition(const Term& product) {
    if (!relative_to_ || product.function != Function::Multiply) return std::nullopt;
    for (std::size_t i = 0; i < 2; ++i) {
        const Term choice = algebra_[product.parts[i]];
        if (choice.kind != Kind::Apply || choice.function != Function::Select) continue;
        for (std::size_t zero = 1; zero <= 2; ++zero) {
            if (!algebra_.is_number(choice.parts[zero], 0)) continue;
            const TermId value =
                algebra_.apply(Function::Multiply, {choice.parts[3 - zero], product.parts[1 - i]});
            std::vector<TermId> parts = choice.parts;
            parts[3 - zero] = value;
            return algebra_.apply(Function::Select, std::move(parts));
        }
    }
    return std::nullopt;
}

Form NormalForm::of_readable(TermId branch) {
    const std::size_t before = read_apart_.size();
    const TermId value = readable(branch, before);
    const Form form = of(value);
    read_apart_.resize(before);
    return form;
}

/// A value that is only used where the guard holds.
Form NormalForm::branch(TermId value, TermId guard) {
    guards_.push_back(guard);
    Form form = of_readable(value);
    if (form && keeps_relative()) form = relative_to_gauge(*form, false);
    guards_.pop_back();
    return form;
}

/// Whether more than its masks can make an exponent -inf.
bool NormalForm::infinite_beside_masks(PolynomialId exponent) {
    Polynomial others = algebra_[exponent];
    std::erase_if(others.terms, [&](const auto& term) {
        return term.second > 0 && algebra_.is_mask(term.first);
    });
    return algebra_.class_of(algebra_.make(std::move(others))).infinite;
}

/// `P > 0` of an exponential over sums of them: where its masks let it be seen. An exponential that
/// is too small for its type counts as positive.
std::optional<std::vector<TermId>> NormalForm::where_positive(TermId condition) {
    const Term test = algebra_[condition];
    if (test.kind != Kind::Apply || test.parts.size() != 2) return std::nullopt;
    const bool greater = test.function == Function::Greater || test.function == Function::NotEqual;
    const std::size_t zero = greater ? 1 : 0;
    if ((!greater && test.function != Function::Less) || !algebra_.is_number(test.parts[zero], 0))
        return std::nullopt;
    const Form form = of(test.parts[1 - zero]);
    forget_obstacle();
    if (!form || algebra_[*form].terms.size() != 1) return std::nullopt;
    const auto& [mono, coefficient] = algebra_[*form].terms.front();
    const bool positive =
        coefficient > 0 && mono.exponent != kZero && mono.guards.empty() &&
        std::all_of(mono.powers.begin(), mono.powers.end(), [&](const auto& factor) {
            return factor.second < 0 && facts_.nonnegative(factor.first);
        });
    if (!positive || infinite_beside_masks(mono.exponent)) return std::nullopt;
    return in_order_of_reads(algebra_, conditions_of(algebra_, mono));
}

/// What two branches have in common needs no condition.
PolynomialId NormalForm::shared_terms(PolynomialId a, PolynomialId b) {
    Polynomial shared = algebra_[a];
    std::erase_if(shared.terms,
                  [&](const auto& term) { return !contains(algebra_[b].terms, term); });
    return algebra_.make(std::move(shared));
}

/// if c then exp(a) else exp(b) as exp(if c then a else b), so that both have one gauge.
Form NormalForm::one_exponential(TermId condition, PolynomialId then, PolynomialId otherwise) {
    if (algebra_[then].terms.size() != 1 || algebra_[otherwise].terms.size() != 1)
        return std::nullopt;
    const auto [first, factor] = algebra_[then].terms.front();
    const auto [second, other_factor] = algebra_[otherwise].terms.front();
    Monomial result = first;
    result.exponent = second.exponent;
    const bool streamed =
        algebra_.class_of(first.exponent).streamed && algebra_.class_of(second.exponent).streamed;
    if (result != second || factor != other_factor || !streamed) return std::nullopt;
    PolynomialId a = first.exponent;
    PolynomialId b = second.exponent;
    const auto visible = [&](TermId all, PolynomialId& exponent) {
        for (const TermId each :
             in_order_of_reads(algebra_, conditions_of(algebra_, Monomial{.exponent = exponent}))) {
            exponent = algebra_.subtract(exponent, algebra_.masked(each));
            all = algebra_.apply(Function::And, {all, each});
        }
        return all;
    };
    const TermId in_one = visible(condition, a);
    const TermId in_other = visible(negation(condition), b);
    const PolynomialId shared = shared_terms(a, b);
    const TermId choice =
        algebra_.apply(Function::Select, {condition, algebra_.term_of(algebra_.subtract(a, shared)),
                                          algebra_.term_of(algebra_.subtract(b, shared))});
    if (algebra_.class_of(choice).folded) return std::nullopt;
    result.exponent = a == b ? shared : algebra_.add(shared, algebra_.atom(choice));
    if (a != first.exponent || b != second.exponent)
        result.exponent = algebra_.add(
            result.exponent, algebra_.masked(algebra_.apply(Function::Or, {in_one, in_other})));
    return algebra_.monomial(std::move(result), factor);
}

Form NormalForm::select(TermId id, const Term& term) {
    const TermId condition = term.parts[0];
    if (algebra_.class_of(condition).mixed()) {
        if (const auto visible = where_positive(condition)) {
            if (visible->empty()) return of(term.parts[1]);
            Term same = term;
            same.parts[0] = visible->front();
            for (std::size_t i = 1; i < visible->size(); ++i)
                same.parts[0] = algebra_.apply(Function::And, {same.parts[0], (*visible)[i]});
            return of(algebra_.make(std::move(same)));
        }
        const Form form = of(condition);
        if (!form) return std::nullopt;
    }
    const bool otherwise_masked = algebra_.is_number(term.parts[2], -kInfinity);
    const bool then_masked = algebra_.is_number(term.parts[1], -kInfinity);
    const Class of_all = algebra_.class_of(id);
    const bool streams = algebra_.class_of(condition).folded;
    if ((otherwise_masked || then_masked) && !streams) {
        const Form value = of_readable(
            assuming(term.parts[otherwise_masked ? 1 : 2], condition, otherwise_masked));
        if (!value) return std::nullopt;
        const TermId visible = otherwise_masked ? condition : negation(condition);
        return algebra_.add(*value, algebra_.masked(visible));
    }
    const bool zero_branch =
        algebra_.is_number(term.parts[1], 0) || algebra_.is_number(term.parts[2], 0);
    const bool opens = of_all.mixed() || (of_all.streamed && of_all.exponential) ||
                       (zero_branch && of_all.streamed);
    if (!opens) return of_parts(id, term);
    const Form then = branch(assuming(term.parts[1], condition, true), condition);
    const Form otherwise = branch(assuming(term.parts[2], condition, false), negation(condition));
    if (!then || !otherwise) return std::nullopt;
    if (const Form one = one_exponential(condition, *then, *otherwise)) return one;
    const PolynomialId shared = shared_terms(*then, *otherwise);
    return algebra_.add(
        shared, algebra_.add(guarded(algebra_.subtract(*then, shared), condition),
                             guarded(algebra_.subtract(*otherwise, shared), negation(condition))));
}

}  // namespace napkin::separation
