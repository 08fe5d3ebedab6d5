// Where products of warp groups are waited for.
#pragma once

#include "schedule/program.h"

namespace napkin::schedule {

/// How many products of a loop's body are on their way when a turn ends.
[[nodiscard]] std::int64_t crossing(const Program& program, const Body& body);

/// Puts a Finish behind every product that goes on beside other work: before the first operation
/// that touches its results or writes where its operands are, at the end of its body at last.
void add_finishes(Program& program);

}  // namespace napkin::schedule
