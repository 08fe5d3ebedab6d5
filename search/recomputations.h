// What may be worth computing again rather than keeping.
#pragma once

#include <vector>

#include "derive/state.h"

namespace napkin {

/// Of arrays that are larger than all that a plain state is given and asked for, where several
/// regions fold them: commands by which one of these regions, or several that keep the same axes
/// and can be one, computes them again (`recompute`). Each list is legal by itself; those that
/// compute most again come first, and there are two at most; none where there are more
/// than eight regions.
[[nodiscard]] std::vector<std::vector<Command>> recomputations(const State& plain);

}  // namespace napkin
