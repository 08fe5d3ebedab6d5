// Evidence that a value has no form with few products: the rank of its values at random points.
#pragma once

#include "derive/separation/algebra/algebra.h"

namespace napkin::separation {

/// Points at which refusals are sampled; twice as many show whether the rank grows.
inline constexpr int kRankPoints = 12;

/// Evaluates f(x_i, r_j) at `points` random streamed values x_i and folded values r_j, exactly, in
/// a pair of prime fields (exponents in Z_q, all else in Z_p; p = 2q + 1), and returns the rank of
/// the matrix. A form with k products has rank at most k. Comparisons, absolute values and rounding
/// follow ordinary numbers; other functions are unknown functions of their arguments.
[[nodiscard]] int sampled_rank(const Algebra& algebra, TermId term, int points = kRankPoints);

}  // namespace napkin::separation
