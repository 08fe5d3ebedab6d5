// What makes a value 0 where nothing is visible.
#pragma once

#include <set>

#include "derive/separation/algebra/algebra.h"

namespace napkin::separation {

/// Exponents of the exponentials that are a factor of every product that the value is a sum of:
/// where one of them vanishes, so does the value.
[[nodiscard]] std::set<TermId> exponents_of_factors(Algebra& algebra, TermId value);

}  // namespace napkin::separation
