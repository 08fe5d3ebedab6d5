// Folds that threads need not combine in every chunk.
#pragma once

#include <cstdint>
#include <map>

#include "schedule/plan.h"

namespace napkin::schedule {

/// Folds of a loop whose state every lane may keep for what it folds itself, the columns of a row
/// that it holds or its part of what is folded serially, combined once behind the loop; by their
/// leaf, the loop, counted in the order of the text. The state
/// begins as the monoid's identity right before the loop, is only folded into and, of a sum,
/// scaled, and nothing else in the loop reads it.
[[nodiscard]] std::map<LeafId, std::uint32_t> lane_folds(const RegionProgram& region,
                                                         const Plan& plan);

}  // namespace napkin::schedule
