// Where along an axis mistakes live.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "diagrams/diagram.h"

namespace napkin {

/// Sizes of groups and chunks by axis.
using TileSizes = std::map<AxisId, std::set<std::int64_t>>;

/// Both ends of an axis, both sides of the edges of its first, second, middle and last tiles, and
/// both sides of where a mask begins or ceases to hold for the corners of another axis: a causal
/// mask's rows whose last visible element is the last of a chunk.
[[nodiscard]] std::set<std::int64_t> corners_of(const Diagram& diagram, AxisId axis,
                                                const TileSizes& tiles);

}  // namespace napkin
