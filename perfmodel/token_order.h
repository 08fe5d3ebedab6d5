// The tokens of one side of a mask: as arrays have them, and tile by tile, since those of a tile of
// several axes do not follow one another in arrays.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diagrams/diagram.h"
#include "diagrams/index/mask.h"

namespace napkin {

/// The axes of a side as arrays have them in memory, the slowest first.
struct TokenAxes {
    std::vector<AxisId> axes;
    std::optional<ArrayId> array;    ///< that has them so; none has all of them: as declared
    std::vector<ArrayId> otherwise;  ///< inputs and outputs that have them in another order
};
/// `side` as the first input has it that has nothing of the side across; without one an output,
/// without that any array.
[[nodiscard]] TokenAxes axes_of_tokens(const Diagram& diagram, const std::vector<AxisId>& side,
                                       const std::vector<AxisId>& across);
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
