// What could make a region fit the tensor core's way of working.
#pragma once

#include <vector>

#include "derive/state.h"
#include "derive/tile_program.h"
#include "schedule/limits.h"

namespace napkin::schedule {

/// Moves towards a plan, most promising first; empty where the region has a plan already. Whether
/// they apply and what comes of them is for the caller to try.
[[nodiscard]] std::vector<Command> proposed_moves(const RegionProgram& region,
                                                  const Limits& limits);
/// Whether the region has a plan, as far as its tiles' sizes tell.
[[nodiscard]] bool has_plan(const RegionProgram& region, const Limits& limits);

}  // namespace napkin::schedule
