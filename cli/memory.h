// What this process may still take of the machine's memory.
#pragma once

namespace napkin::cli {

/// Bytes: the least of what the machine has available, its container's limit and `ulimit -v` leave.
[[nodiscard]] double memory_left();

}  // namespace napkin::cli
