// The order in which blocks run.
#pragma once

#include "codegen/lowering/region_frame.h"
#include "schedule/plan.h"

namespace napkin::lowering {

/// Blocks with more chunks to visit first, so that the last wave is short; bands where two axes of
/// a product are both grouped, so that the cache is shared.
[[nodiscard]] BlockOrder block_order(const RegionProgram& region, const schedule::Plan& plan);

}  // namespace napkin::lowering
