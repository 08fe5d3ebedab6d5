// The rotation of a program's loops (schedule/rotate.h).
#pragma once

#include "schedule/program.h"

namespace napkin::schedule {

/// Orders every loop's body, copies first, and gives its operations their leads. Only what is
/// published in shared memory may lead, if `leads`: results in registers stay in their turn, since
/// a warp goes through its products in order and has no registers to keep two chunks in. A loop
/// around others keeps its order.
[[nodiscard]] Program rotate_loops(Program program, bool leads);

}  // namespace napkin::schedule
