// Whether a value is made of another.
#pragma once

#include <functional>

#include "derive/separation/algebra.h"

namespace napkin::separation {

enum class Within {
    Everything,
    AllButCentred,  ///< `a - g` in a term of kind Centred does not change with `g`, by construction
};

[[nodiscard]] bool mentions(const Algebra& algebra, PolynomialId where,
                            const std::function<bool(TermId)>& wanted,
                            Within within = Within::Everything);
[[nodiscard]] bool mentions(const Algebra& algebra, TermId where, TermId wanted,
                            Within within = Within::Everything);
[[nodiscard]] bool mentions(const Algebra& algebra, PolynomialId where, TermId wanted,
                            Within within = Within::Everything);
[[nodiscard]] bool mentions(const Algebra& algebra, const Monomial& where, TermId wanted,
                            Within within = Within::Everything);

}  // namespace napkin::separation
