// How much of a thread's registers a scheduled program's buffers take at once.
#pragma once

#include <cstdint>

#include "schedule/program.h"

namespace napkin {

/// Bytes of a thread where the most buffers are held: each from its first use to its last, and
/// throughout a loop where a chunk finds what another one, or what stands before the loop, left.
/// What an operation writes takes the place of what it reads for the last time; what is loaded for
/// one operation alone comes as that goes.
[[nodiscard]] std::int64_t live_registers(const schedule::Program& program);

}  // namespace napkin
