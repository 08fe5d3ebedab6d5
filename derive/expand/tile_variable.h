// The variable that holds a tile of an array: its type and how much it holds at the most.
#pragma once

#include "derive/expand/views.h"
#include "derive/region_program.h"
#include "diagrams/relabelling.h"

namespace napkin {

/// Where a variable is made: widths follow the region's groups and streams.
struct TileScope {
    const Diagram& diagram;
    const Relabelling& relabelling;
    const Region& region;
};

/// The tile at `level` of `array`, whose definition is `wire`, named after it; `view` is how the
/// region reads it where it is loaded, null where it is computed.
[[nodiscard]] Variable tile_variable(const TileScope& scope, ArrayId array, const Array& wire,
                                     const View* view, Level level);

}  // namespace napkin
