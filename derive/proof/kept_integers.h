// Whether integers stay integers: fields and doubles do not know a number of f32 from one of i64,
// kernels do.
#pragma once

#include <optional>
#include <string>

#include "derive/region_program.h"

namespace napkin::proof {

/// An array of integers, by its type or as the plain diagram computes it, that the program computes
/// from real numbers, of which f32 has not all from 2^24 on.
[[nodiscard]] std::optional<std::string> integers_in_reals(const Diagram& plain,
                                                           const TileProgram& program);

}  // namespace napkin::proof
