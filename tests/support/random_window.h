// Random diagrams whose elements are read beside each other and folded along several axes at once:
// convolutions, with something computed from the image or without, pooling, norms over several
// axes and sums of columns, in any order of axes.
#pragma once

#include <random>
#include <string>

#include "derive/state.h"

namespace napkin::test {

/// The text of a diagram.
[[nodiscard]] std::string random_window(std::mt19937_64& random);
/// A derivation of such a diagram: axes in blocks and chunks of random sizes, and in parts.
[[nodiscard]] State tiled_window(const Diagram& diagram, std::mt19937_64& random);

}  // namespace napkin::test
