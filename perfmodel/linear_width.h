// The width of a dimension in one tile, where it is affine in the widths of axes' tiles.
#pragma once

#include "perfmodel/affine.h"
#include "perfmodel/tile_count.h"

namespace napkin {

/// sum of |factor| * width + rest, the widths those of the axes' tiles.
struct LinearWidth {
    std::map<AxisId, Coefficient> factors;
    Coefficient rest{Formula(1), 1};
};

/// The affine forms of a dimension's index expressions; nullopt where one has none. `ideal` leaves
/// out bounds that keep an index inside: where sizes divide, they never bind.
[[nodiscard]] std::optional<std::vector<Affine>> forms_of(const std::vector<Axis>& axes,
                                                          const Footprint& dimension, bool ideal);
/// Nullopt where the index expressions do not move together.
[[nodiscard]] std::optional<LinearWidth> linear_width(const std::vector<Axis>& axes,
                                                      const Footprint& dimension, bool ideal);

}  // namespace napkin
