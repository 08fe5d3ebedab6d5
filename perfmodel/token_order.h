// The tokens of one side of a mask, tile by tile: those of a tile of several axes do not follow one
// another in arrays.
#pragma once

#include <cstdint>
#include <vector>

#include "diagrams/diagram.h"
#include "diagrams/index/mask.h"

namespace napkin {

/// Whether each tile of these axes is tokens that follow one another in arrays.
[[nodiscard]] bool are_consecutive(const Diagram& diagram,
                                   const std::vector<index::Tiling>& tilings);
/// The token at each place of the order of tiles, by its flat index.
[[nodiscard]] std::vector<std::int64_t> token_order(const Diagram& diagram,
                                                    const std::vector<index::Tiling>& tilings);
/// The place at which each tile begins, and behind them the number of tokens.
[[nodiscard]] std::vector<std::int64_t> tile_edges(const Diagram& diagram,
                                                   const std::vector<index::Tiling>& tilings);

}  // namespace napkin
