// Whether a value is made of another.
#pragma once

#include <functional>
#include <set>

#include "derive/separation/algebra/algebra.h"

namespace napkin::separation {

enum class Within {
    Everything,
    AllButRelative,  ///< `a - g` in a term of kind Relative does not change with `g`, by
                     ///< construction
};

/// Terms are shared: each is looked at once, however often it is a part.
[[nodiscard]] bool mentions(const Algebra& algebra, PolynomialId where,
                            const std::function<bool(TermId)>& wanted,
                            Within within = Within::Everything);
[[nodiscard]] bool mentions(const Algebra& algebra, TermId where,
                            const std::function<bool(TermId)>& wanted,
                            Within within = Within::Everything);
[[nodiscard]] bool mentions(const Algebra& algebra, TermId where, TermId wanted,
                            Within within = Within::Everything);
[[nodiscard]] bool mentions(const Algebra& algebra, PolynomialId where, TermId wanted,
                            Within within = Within::Everything);
[[nodiscard]] bool mentions(const Algebra& algebra, const Monomial& where, TermId wanted,
                            Within within = Within::Everything);

/// The folds that a value is made of.
[[nodiscard]] std::set<std::uint32_t> folds_in(const Algebra& algebra, TermId value);
[[nodiscard]] std::set<std::uint32_t> folds_in(const Algebra& algebra, PolynomialId value);

/// Conditions in an order in which each may guard what those after it read: first those that read
/// no array, last those that read at indices from data.
[[nodiscard]] std::vector<TermId> in_order_of_reads(const Algebra& algebra,
                                                    std::vector<TermId> conditions);

}  // namespace napkin::separation
