#include "derive/separation/mentions.h"

#include <algorithm>

namespace napkin::separation {

bool mentions(const Algebra& algebra, TermId where, TermId wanted, Within within) {
    if (where == wanted) return true;
    const Term& term = algebra[where];
    if (term.kind == Kind::Centred && within == Within::AllButCentred) return false;
    if (term.kind == Kind::Sum && mentions(algebra, PolynomialId{term.ref}, wanted, within))
        return true;
    return std::any_of(term.parts.begin(), term.parts.end(),
                       [&](TermId part) { return mentions(algebra, part, wanted, within); });
}

bool mentions(const Algebra& algebra, PolynomialId where, TermId wanted, Within within) {
    const auto& terms = algebra[where].terms;
    return std::any_of(terms.begin(), terms.end(), [&](const auto& term) {
        return mentions(algebra, term.first, wanted, within);
    });
}

bool mentions(const Algebra& algebra, const Monomial& where, TermId wanted, Within within) {
    return (where.exponent != kZero && mentions(algebra, where.exponent, wanted, within)) ||
           std::any_of(where.powers.begin(), where.powers.end(), [&](const auto& factor) {
               return mentions(algebra, factor.first, wanted, within);
           });
}

}  // namespace napkin::separation
