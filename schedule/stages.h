// How many chunks' contents buffers hold, and how far ahead copies run.
#pragma once

#include "schedule/program.h"

namespace napkin::schedule {

/// Gives the rings that copies fill in loops so many stages, more where their readers lead each
/// other, and their copies the lead that keeps all of them in use; what operations publish for
/// later turns gets the slots that this takes.
void set_stages(Program& program, std::int64_t stages);

}  // namespace napkin::schedule
