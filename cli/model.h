// What the cost model says of a state, in the command line's own terms.
#pragma once

#include "cli/execution.h"

namespace napkin::cli {

/// H and A by level as the model's exact formulas give them.
[[nodiscard]] LevelTraffic modelled_traffic(const State& state);

}  // namespace napkin::cli
