// An agent of its own for a region's copies, and the rings that it fills.
#pragma once

#include "derive/tile_program.h"
#include "schedule/limits.h"
#include "schedule/plan.h"
#include "schedule/program.h"

namespace napkin::schedule {

/// The program with two agents: one makes the copies, the other everything else. Copies of one body
/// that are first and last read together fill one ring.
[[nodiscard]] Program form_agents(Program program, const RegionProgram& region, const Plan& plan,
                                  const Limits& limits);

/// Puts waits for rings before their first readers and releases after the last ones.
void add_tokens(Program& program);

}  // namespace napkin::schedule
