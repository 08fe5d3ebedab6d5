// Folds along axes that what they fold does not vary along.
#pragma once

#include "derive/tile_program.h"

namespace napkin::schedule {

/// sum(a) v ==> v * size(a), max(a) v ==> v and min(a) v ==> v, where v is the same at every index
/// of `a`, which the region holds whole: no tile need lie along `a` then.
[[nodiscard]] RegionProgram without_idle_folds(RegionProgram region);

}  // namespace napkin::schedule
