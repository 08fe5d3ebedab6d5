// What is read elsewhere than along an axis, such as the other half of a row: `K[x, (d + 64) %
// 128]`.
#pragma once

#include <cstdint>
#include <vector>

#include "derive/tile_program.h"

namespace napkin::schedule {

/// Whether what is read at neighbours along `columns` are neighbours along a dimension of that
/// axis, in the same vectors of `count` elements. Sizes that `run_time` has by axis are not known.
[[nodiscard]] bool keeps_vectors(const RegionProgram& region, const Expression& index,
                                 AxisId columns, AxisId dimension, std::int64_t count,
                                 const std::vector<bool>& run_time);

}  // namespace napkin::schedule
