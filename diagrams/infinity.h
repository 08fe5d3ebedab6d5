#pragma once

#include <limits>

namespace napkin {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace napkin
