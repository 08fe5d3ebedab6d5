#include "derive/separation/algebra/vanishing.h"

#include <algorithm>
#include <iterator>

namespace napkin::separation {
namespace {

std::set<TermId> in_both(const std::set<TermId>& a, const std::set<TermId>& b) {
    std::set<TermId> both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
    return both;
}

std::set<TermId> of_monomial(Algebra& algebra, const Monomial& product) {
    std::set<TermId> exponents;
    if (product.exponent != kZero) exponents.insert(algebra.term_of(product.exponent));
    for (const auto& [factor, power] : product.powers)
        if (power > 0) exponents.merge(exponents_of_factors(algebra, factor));
    return exponents;
}

std::set<TermId> of_call(Algebra& algebra, const Term& term) {
    const auto of = [&](std::size_t part) {
        return exponents_of_factors(algebra, term.parts[part]);
    };
    switch (term.function) {
    case Function::Exp: return {term.parts.front()};
    case Function::Multiply: {
        std::set<TermId> exponents = of(0);
        exponents.merge(of(1));
        return exponents;
    }
    case Function::Divide:
    case Function::Negate:
    case Function::Abs:
    case Function::Sqrt:
    case Function::Guard: return of(0);
    case Function::Add:
    case Function::Subtract: return in_both(of(0), of(1));
    case Function::Select:
        if (algebra.is_number(term.parts[2], 0)) return of(1);
        return algebra.is_number(term.parts[1], 0) ? of(2) : in_both(of(1), of(2));
    default: return {};
    }
}

}  // namespace

std::set<TermId> exponents_of_factors(Algebra& algebra, TermId value) {
    const Term& term = algebra[value];
    if (term.kind == Kind::Convert) return exponents_of_factors(algebra, term.parts.front());
    if (term.kind == Kind::Apply) return of_call(algebra, term);
    if (term.kind != Kind::Sum) return {};
    std::optional<std::set<TermId>> shared;
    for (const auto& [product, coefficient] : algebra[PolynomialId{term.ref}].terms) {
        std::set<TermId> exponents = of_monomial(algebra, product);
        shared = shared ? in_both(*shared, exponents) : std::move(exponents);
    }
    return shared.value_or(std::set<TermId>{});
}

}  // namespace napkin::separation
