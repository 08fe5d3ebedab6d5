// What a region's streams have in common.
#pragma once

#include <vector>

#include "diagrams/relabelling.h"

namespace napkin {

/// The axes that a region streams, outermost first, each once.
[[nodiscard]] std::vector<AxisId> streamed_axes(const Region& region);

}  // namespace napkin
