// Elements past the end of an array that parts of an axis reach where they do not divide it. A tile
// program reads the last element in their place, under a condition that tests the end wherever that
// would matter. Where it does so, zeros may be read there as well, which is what a bulk copy
// brings.
#pragma once

#include "derive/region_program.h"

namespace napkin::schedule {

/// Whether nothing that the region keeps depends on the elements of `array` that are read where
/// `inside` fails, if they are finite: each is read under that condition, or multiplied by what is
/// zero there, or goes into an element of its own place of which the same is true.
[[nodiscard]] bool is_unneeded_outside(const RegionProgram& region, ArrayId array,
                                       const Expression& inside);

}  // namespace napkin::schedule
