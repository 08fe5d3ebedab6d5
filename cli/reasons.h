// Why a step changed the figures: sentences read off the difference of two relabellings.
#pragma once

#include <string>
#include <vector>

#include "derive/state.h"

namespace napkin::cli {

/// One sentence a change: what is loaded by each of how many groups, what arrives in chunks, what
/// is no longer saved and loaded again.
[[nodiscard]] std::vector<std::string> reasons_of(const State& before, const State& after);

}  // namespace napkin::cli
