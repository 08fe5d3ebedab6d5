// Warp groups that start a turn's products one group after another.
//
// Left alone, groups of a block start their products at about the same time, share the tensor core,
// and may then all do their element work while it idles. In turn, one group's products run under
// the others' element work. On an H200 groups come apart by themselves: within 2 % attention is as
// fast either way (bench/results/2026-11-30-turns.md), so it is done where it is asked for.
#pragma once

#include <optional>

#include "schedule/program.h"
#include "schedule/region_schedule.h"

namespace napkin::schedule {

/// Puts TakeTurn and PassTurn around the products of every loop whose groups can take turns; the
/// reason where none can. All groups run as many turns of a loop, and nothing between the two waits
/// for a group that waits for its turn.
[[nodiscard]] std::optional<Refusal> take_turns(Program& program);

/// Whether groups take turns in some loop.
[[nodiscard]] bool takes_turns(const Body& body);

}  // namespace napkin::schedule
