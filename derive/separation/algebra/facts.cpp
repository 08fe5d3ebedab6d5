#include "derive/separation/algebra/facts.h"

namespace napkin::separation {
namespace {

Facts product(const Facts& a, const Facts& b) {
    const Facts both[] = {a, b};
    return facts_of_call(Function::Multiply, both);
}

}  // namespace

/// What many parts of a question are made of is looked at once.
template <class Id, class Compute>
Facts TermFacts::remembered(Id id, std::map<Id, Facts>& seen, const Compute& compute) const {
    if (depth_ == 0) {
        seen_.clear();
        seen_sums_.clear();
    }
    if (const auto known = seen.find(id); known != seen.end()) return known->second;
    ++depth_;
    const Facts facts = compute();
    --depth_;
    return seen[id] = facts;
}

Facts TermFacts::of(TermId id) const {
    return remembered(id, seen_, [&] { return computed(algebra_[id]); });
}

Facts TermFacts::computed(const Term& term) const {
    switch (term.kind) {
    case Kind::Number: return facts_of_number(term.number);
    case Kind::Axis: return facts_of_index();
    case Kind::Size: return facts_of_size();
    case Kind::Convert:
        return facts_of_rounding(static_cast<ElementType>(term.ref), of(term.parts.front()));
    case Kind::Inner: return facts_of_fold(MonoidId{term.ref}, of(term.parts.front()));
    case Kind::Sum: return of(PolynomialId{term.ref});
    case Kind::Mask: return either(facts_of_number(0), facts_of_number(-kInfinity));
    case Kind::Read:
    case Kind::Fold:
    case Kind::State:
    case Kind::Late: return given_(term);
    case Kind::Mean:
    case Kind::Relative: return {};
    case Kind::Apply: break;
    }
    if (term.function == Function::Multiply && term.parts[0] == term.parts[1])
        return facts_of_power(of(term.parts[0]), 2);
    std::vector<Facts> parts;
    for (const TermId part : term.parts) parts.push_back(of(part));
    return facts_of_call(term.function, parts);
}

Facts TermFacts::of(const Monomial& mono) const {
    Facts facts = facts_of_number(1);
    for (const auto& [term, power] : mono.powers)
        facts = product(facts, facts_of_power(of(term), power));
    if (mono.exponent != kZero) {
        const Facts exponent[] = {of(mono.exponent)};
        facts = product(facts, facts_of_call(Function::Exp, exponent));
    }
    if (!mono.guards.empty()) facts = either(facts, facts_of_number(0));
    return mono.deferred.empty() ? facts : facts_of_fold(kSum, facts);
}

Facts TermFacts::of(PolynomialId polynomial) const {
    return remembered(polynomial, seen_sums_, [&] {
        Facts total = facts_of_number(0);
        for (const auto& [mono, coefficient] : algebra_[polynomial].terms) {
            const Facts both[] = {total, product(of(mono), facts_of_number(coefficient))};
            total = facts_of_call(Function::Add, both);
        }
        return total;
    });
}

std::optional<double> TermFacts::upper(PolynomialId polynomial) const {
    const double high = of(polynomial).high;
    return high < kInfinity ? std::optional(high) : std::nullopt;
}

}  // namespace napkin::separation
