// Random diagrams of integers alone, which are exact: every one of their values is the language's,
// below 2^53, also where an f32 has it not.
#pragma once

#include <cstdint>
#include <string>

#include "diagrams/evaluate.h"

namespace napkin::test {

/// The text of a diagram: sums, maxima, minima and scans of what is computed from i8, i32 and i64.
[[nodiscard]] std::string random_integers(std::uint32_t seed);
/// Whether all arrays are of integers or conditions, but for what rounds them.
[[nodiscard]] bool has_integers_alone(const Diagram& diagram);
/// Inputs of such a diagram: of i8 all values, of i32 to the ends and about 2^24, of i64 to 2^40.
[[nodiscard]] Tensors wide_integers(const Diagram& diagram, std::uint64_t seed);

}  // namespace napkin::test
