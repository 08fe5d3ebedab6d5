// Whether a scheduled program is right, by running it.
#pragma once

#include <string>
#include <vector>

#include "schedule/program.h"

namespace napkin::schedule {

/// What goes wrong when loops have none, one, two or more chunks: an access that no barrier keeps
/// from an earlier one, a copy read before it is waited for, an operation that finds the contents
/// of another chunk than its own, copies on their way at the end, buffers past the end of shared
/// memory. Empty where nothing does. Runs every event in order and keeps, for every buffer's slot,
/// who touched it; it shares no code with the passes that it checks.
[[nodiscard]] std::vector<std::string> verify(const Program& program);

/// What is wrong with products of warp groups that go on beside other work: registers touched or
/// operands released before a product is through, or one that is on its way at the end.
[[nodiscard]] std::vector<std::string> verify_products(const Program& program);

/// What is wrong between agents: a ring read before it is filled or after it was released, filled
/// over what is still read or lies there too, or agents that wait for each other for ever.
[[nodiscard]] std::vector<std::string> verify_rings(const Program& program);

}  // namespace napkin::schedule
