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

/// The value with one read where a condition on indices chooses between two of an array, if it
/// keeps vectors: `if d < 64 then c[d] else c[d - 64]` reads c[if d < 64 then d else d - 64], also
/// within what either branch computes.
[[nodiscard]] Expression join_branches(const RegionProgram& region, Expression value,
                                       AxisId columns, std::int64_t count,
                                       const std::vector<bool>& run_time);

}  // namespace napkin::schedule
