// How many chunks' contents buffers hold, and how far ahead copies run.
#pragma once

#include "schedule/program.h"
#include "schedule/region_schedule.h"

namespace napkin::schedule {

/// Gives the rings that copies fill in loops their stages: those that are chosen for a ring by its
/// name or for all, otherwise so many, more where their readers lead each other; and their copies
/// the lead that keeps all of them in use. What operations publish for later turns gets the slots
/// that this takes. Refuses what cannot be chosen.
[[nodiscard]] std::optional<Refusal> set_stages(Program& program, std::int64_t stages,
                                                const std::map<std::string, std::int64_t>& chosen);

/// Whether an agent of its own begins to fill a chunk's stage only when all the chunks before it
/// are through.
[[nodiscard]] bool copies_late(const Program& program);

/// The buffers that copies fill in loops.
[[nodiscard]] std::vector<BufferId> copied_rings(const Program& program);

}  // namespace napkin::schedule
