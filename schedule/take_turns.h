// Warp groups that start a turn's products one group after another.
//
// Left alone, groups of a block start their products at about the same time, share the tensor core,
// and then all do their element work while it idles. In turn, one group's products run under the
// other's element work.
#pragma once

#include <optional>

#include "schedule/plan.h"
#include "schedule/program.h"
#include "schedule/region_schedule.h"

namespace napkin::schedule {

/// Puts TakeTurn and PassTurn around the products of loops whose turns can be taken, where that was
/// asked for or pays; the reason where it was asked for and no loop's can. Groups run as many turns
/// of a loop, so that each one's pass meets the next one's take; nothing between the two waits for
/// a group that waits for the turn.
[[nodiscard]] std::optional<Refusal> take_turns(Program& program, const RegionProgram& region,
                                                const RegionSchedule& wanted);

/// Whether groups take turns in some loop.
[[nodiscard]] bool takes_turns(const Body& body);

}  // namespace napkin::schedule
