// Values that do not change when a constant is added to what is folded.
//
// E[X^2] - E[X]^2 is the same for X and for X + c, while the sums that it is made of grow with c^2:
// for large c their difference keeps no digit. Wherever a difference of sums is invariant and its
// sides are not, the sums are therefore formed of X - c, for some c near X.
#pragma once

#include <deque>
#include <set>
#include <vector>

#include "derive/separation/read/cascade.h"

namespace napkin::separation {

/// A difference that does not change when `value` moves along the axes `over` by a constant.
struct Invariance {
    TermId difference = {};
    TermId value = {};
    std::vector<AxisId> axes = {};       ///< along which the constant may vary
    std::vector<AxisId> over = {};       ///< along which it does not
    std::set<std::uint32_t> folds = {};  ///< that have to be formed relative to it
    std::vector<TermId> guards = {};     ///< of every product of the value that they sum
};

/// `forms` are the normal forms of the bodies of `folds`; those of `unknown` have none.
[[nodiscard]] std::vector<Invariance> find_invariances(Cascade& cascade,
                                                       const std::deque<FoldOver>& folds,
                                                       const std::vector<PolynomialId>& forms,
                                                       const std::set<std::uint32_t>& unknown = {});

/// The polynomial with `value` written as (value - gauge) + gauge wherever it is a factor of a
/// product that has these guards, in exponents too where `deep`.
[[nodiscard]] PolynomialId written_relative(Algebra& algebra, PolynomialId polynomial, TermId value,
                                            TermId gauge, bool deep,
                                            const std::vector<TermId>& guards = {});

}  // namespace napkin::separation
