// Names of group and stream sizes in formulas: g_q and s_x at block level, g_q.warps below it.
#pragma once

#include <string>
#include <vector>

#include "diagrams/relabelling.h"

namespace napkin {

[[nodiscard]] std::string group_symbol(const Diagram& diagram, const Group& group);
[[nodiscard]] std::string stream_symbol(const Diagram& diagram, const Stream& stream);
/// Values of every group and stream symbol of a region, and of every axis.
[[nodiscard]] Sizes sizes_of(const Diagram& diagram, const Region& region);

/// The widest that an axis can be on one processor of `level`: the least of its extent and of every
/// group and stream size at that level or further out.
[[nodiscard]] std::int64_t width_of(const Diagram& diagram, const Region& region, AxisId axis,
                                    Level level);
/// The same as a formula, `min(g_q, q)`.
[[nodiscard]] Formula width_formula(const Diagram& diagram, const Region& region, AxisId axis,
                                    Level level);

}  // namespace napkin
