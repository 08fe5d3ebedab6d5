// How wide an axis is on one processor of a level.
#pragma once

#include "diagrams/relabelling.h"

namespace napkin {

/// The widest that an axis can be on one processor of `level`: the least of its extent and of every
/// group and stream size at that level or further out.
[[nodiscard]] std::int64_t width_of(const Diagram& diagram, const Region& region, AxisId axis,
                                    Level level);
/// The same as a formula, `min(g_q, q)`.
[[nodiscard]] Formula width_formula(const Region& region, AxisId axis, Level level);

}  // namespace napkin
