// Whether bulk copies bring what a load does.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "derive/tile_program.h"
#include "schedule/limits.h"
#include "schedule/plan.h"
#include "schedule/program.h"

namespace napkin::schedule {

/// The box of one of a load's bulk copies, a panel of its tile or a whole vector, or why there is
/// none. What a box brings beside the tile's elements is zero along the depth of products, outside
/// the array.
[[nodiscard]] std::variant<Box, std::string> box_of(const RegionProgram& region, const Plan& plan,
                                                    const Limits& limits, const Load& load);

/// Sizes of the groups and chunks of an axis around a load, outermost first.
[[nodiscard]] std::vector<std::int64_t> sizes_around(const RegionProgram& region, const Load& load,
                                                     AxisId axis);
/// Bytes of a row of a panel with so many columns: as wide as the columns divide.
[[nodiscard]] std::int64_t panel_bytes(std::int64_t columns, ElementType type);

}  // namespace napkin::schedule
