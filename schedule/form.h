// The operations, buffers and loops of a region's tile program, in the order of its text: the
// scheduled program that the passes start from.
#pragma once

#include "derive/tile_program.h"
#include "schedule/limits.h"
#include "schedule/plan.h"
#include "schedule/program.h"

namespace napkin::schedule {

/// One operation for each leaf that a block carries out; two for a product whose right operand is
/// computed, which is published before, and for a save through shared memory, which is staged.
/// Loads that stay in device memory are none. Costs are one warp's.
[[nodiscard]] Program form(const RegionProgram& region, const Plan& plan, const Limits& limits);

}  // namespace napkin::schedule
