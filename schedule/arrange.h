// How the warps of a block share a region's rows and columns.
#pragma once

#include <optional>

#include "schedule/plan.h"
#include "schedule/region_schedule.h"

namespace napkin::schedule {

/// Fills the plan's warps, lanes and rows, with as many warps as are wanted; the reason where no
/// arrangement fits the registers.
[[nodiscard]] std::optional<Refusal> arrange(const RegionProgram& region, const Limits& limits,
                                             const RegionSchedule& wanted, Plan& plan);

}  // namespace napkin::schedule
