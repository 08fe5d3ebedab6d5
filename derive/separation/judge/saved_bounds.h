// What is known of values that earlier regions saved: a log-sum-exp, or a maximum, is never below
// what it was computed from.
#pragma once

#include <optional>

#include "derive/separation/read/cascade.h"

namespace napkin::separation {

/// The saved array whose subtraction keeps the exponent at or below zero, whatever the inputs:
/// `L` of `S - L`, L = log sum(x) exp(S), also where the region computes S anew.
[[nodiscard]] std::optional<ArrayId> bounding_array(Cascade& cascade, PolynomialId exponent);

/// Whether an array is a sum of exponentials that earlier regions took relative to their maximum,
/// so that it is at least one wherever anything is visible.
[[nodiscard]] bool is_saved_sum_from_maximum(const Diagram& diagram, ArrayId array);

/// Whether two arrays hold the same values: the same, or computed alike from the same.
[[nodiscard]] bool same_values(const Diagram& diagram, ArrayId a, ArrayId b);

}  // namespace napkin::separation
