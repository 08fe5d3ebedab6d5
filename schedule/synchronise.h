// Waits and barriers from what operations read and write.
#pragma once

#include "schedule/program.h"

namespace napkin::schedule {

/// Puts a Sync wherever one operation's access to shared memory must be over before another's
/// begins, and as few as that takes; a Commit stands behind every run of copies. Buffers must have
/// their stages and places. What was there before is replaced.
void synchronise(Program& program);

}  // namespace napkin::schedule
