// In which order the tiles of a region are computed.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "derive/tile_program.h"
#include "schedule/region_schedule.h"

namespace napkin::schedule {

/// Plain: the last group varies fastest.
struct TileOrder {
    std::set<AxisId> reversed;  ///< last group first
    /// Tiles of the two fastest groups go in bands of so many of the slower one, so that the
    /// tiles that are computed at the same time share more of what they load; 0 for none.
    std::int64_t band = 0;
    /// The group that decides how many chunks a tile visits, where they grow or fall along it.
    std::optional<AxisId> graded;
    bool uneven = false;     ///< whether some tiles visit far more chunks than the mean
    std::int64_t tiles = 1;  ///< at the sizes of the diagram
    double chunks = 1;       ///< that a tile visits on the average, of all loops in each other
    bool operator==(const TileOrder&) const = default;
};

/// What the products of a region go along.
struct ProductSides {
    std::optional<AxisId> rows;  ///< of the block
    std::set<AxisId> columns;
    std::set<VariableId> operands;
};

/// Tiles with more chunks to visit first, so that the last wave is short; bands where the groups
/// are of a product's two axes, or where tiles along one of them share one operand and tiles along
/// the other another.
[[nodiscard]] TileOrder tile_order(const RegionProgram& region, const ProductSides& products);

/// Bands of so many tiles, where they are asked for.
[[nodiscard]] std::optional<Refusal> choose_band(const RegionProgram& region,
                                                 std::optional<std::int64_t> wanted,
                                                 TileOrder& order);

}  // namespace napkin::schedule
