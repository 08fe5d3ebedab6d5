// The table above a picture: what is held and what is moved at each level.
#pragma once

#include <vector>

#include "derive/state.h"
#include "diagrams/drawing/layout.h"
#include "perfmodel/cost.h"

namespace napkin::cli {

/// What each array adds to H of a level.
[[nodiscard]] std::vector<Polynomial> transfers_of(const RegionCost& region, Level level);
/// Two rows for each level at which arrays are loaded, of `numbers` with bytes under the formulas.
[[nodiscard]] std::vector<drawing::TableRow> resource_rows(const State& state, const Cost& cost,
                                                           bool numbers);

}  // namespace napkin::cli
