// A formula in the lines of a box.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "diagrams/drawing/math_text.h"

namespace napkin::drawing {

/// Lines that a box has room for.
inline constexpr std::size_t kMostLines = 6;

/// Broken at the signs outside most brackets; none where it is too long for a box.
[[nodiscard]] std::vector<MathText> formula_lines(const std::string& text);

}  // namespace napkin::drawing
