// Maxima over nothing but -inf, of which values are taken.
#pragma once

#include "derive/tile_program.h"

namespace napkin::schedule {

/// v - m ==> v - guard(m), where m is the maximum of v: once a row instead of at every element this
/// makes it -inf, as the language has it, of values that are all -inf because of a mask or of data.
[[nodiscard]] RegionProgram with_guarded_maxima(RegionProgram region);

}  // namespace napkin::schedule
