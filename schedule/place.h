// Where buffers lie in shared memory.
#pragma once

#include "schedule/program.h"

namespace napkin::schedule {

/// Gives every buffer in shared memory its offset, and the program its bytes: buffers that are
/// never in use at once, as far as the order of the region's statements tells, may share memory. A
/// loop uses its buffers from its beginning to its end.
void place(Program& program);

}  // namespace napkin::schedule
