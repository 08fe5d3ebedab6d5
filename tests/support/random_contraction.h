// Random diagrams around products of matrices: what kernels are made of, which general random
// diagrams seldom meet. Prologues, masks, epilogues, operations along rows, a second product, in
// any order of axes and in many types.
#pragma once

#include <random>
#include <string>

#include "derive/state.h"

namespace napkin::test {

/// The text of a diagram.
[[nodiscard]] std::string random_contraction(std::mt19937_64& random);
/// A derivation of such a diagram that makes few kernels, axes in blocks and chunks of random
/// sizes.
[[nodiscard]] State tiled_contraction(const Diagram& diagram, std::mt19937_64& random);

}  // namespace napkin::test
