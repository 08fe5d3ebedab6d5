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

/// Registers that each thread may take where so many warp groups share a processor with one that
/// copies.
[[nodiscard]] std::int64_t registers_of_group(std::int64_t groups, std::int64_t resident = 1);
/// What a thread of the group that copies keeps.
inline constexpr std::int64_t kCopyRegisters = 24;

}  // namespace napkin::schedule
