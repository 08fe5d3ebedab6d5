// Why a step changed the figures: sentences read off the difference of two relabellings.
#pragma once

#include <string>
#include <vector>

#include "derive/state.h"
#include "perfmodel/cost.h"

namespace napkin::cli {

/// One sentence a change: what is no longer saved and loaded again, what arrives in chunks, what
/// each of how many groups loads.
[[nodiscard]] std::vector<std::string> reasons_of(const State& before, const State& after,
                                                  const Cost& cost_before, const Cost& cost_after);

}  // namespace napkin::cli
