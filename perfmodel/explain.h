// Why a region transfers what it does, in sentences.
#pragma once

#include <string>
#include <vector>

#include "perfmodel/cost.h"

namespace napkin {

/// How many chunks a mask leaves, which numbers know and formulas do not; empty without such a
/// mask.
[[nodiscard]] std::string explain_mask(const RegionCost& cost);
/// One sentence for each group of arrays that is loaded more than once, then for halos, masks and
/// gathers; `every array is loaded once` when there is nothing to say. `K and V lack q: each of 32
/// groups loads them`.
[[nodiscard]] std::vector<std::string> explain_transfers(const RegionCost& cost,
                                                         const std::vector<Axis>& axes);

}  // namespace napkin
