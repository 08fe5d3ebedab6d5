// How the warps of a block share a region's rows and columns.
#pragma once

#include <optional>

#include "schedule/plan.h"
#include "schedule/region_schedule.h"

namespace napkin::tensor {

/// Fills the plan's warps, lanes and rows, with as many warps as are wanted; the reason where no
/// arrangement fits the registers.
[[nodiscard]] std::optional<schedule::Refusal> arrange(const RegionProgram& region,
                                                       const schedule::Limits& limits,
                                                       const schedule::RegionSchedule& wanted,
                                                       Plan& plan);

}  // namespace napkin::tensor
