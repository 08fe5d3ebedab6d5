// In which order the tiles of a region are computed.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "derive/tile_program.h"
#include "schedule/region_schedule.h"

namespace napkin::schedule {

/// Of a large device.
constexpr std::int64_t kProcessors = 132;

/// Plain: the last group varies fastest.
struct TileOrder {
    std::set<AxisId> reversed;  ///< last group first
    /// Tiles of the two fastest groups go in bands of so many of the slower one, so that the
    /// tiles that are computed at the same time share more of what they load; 0 for none.
    std::int64_t band = 0;
    /// The group that decides how many chunks a tile visits, where they grow or fall along it.
    std::optional<AxisId> graded;
    std::vector<std::int64_t> grades;  ///< these chunks, about, the most first
    /// Where a block takes several graded tiles, so many of all other groups go together.
    std::int64_t together = 0;
    /// Whether a block that takes several has the next one when it is done with one, by a counter:
    /// where data decides how long tiles are, no order evens them out.
    bool counted = false;
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

/// For graded tiles that so many blocks go through, from the longest to the shortest, there and
/// back: how many of the other groups go together, such that blocks end at about the same time.
[[nodiscard]] std::int64_t even_together(const TileOrder& order, std::int64_t blocks);

/// Bands of so many tiles, where they are asked for; of graded tiles that several blocks go
/// through, whose number is given, how many others go together.
[[nodiscard]] std::optional<Refusal> choose_band(const RegionProgram& region,
                                                 std::optional<std::int64_t> wanted,
                                                 std::optional<std::int64_t> blocks,
                                                 TileOrder& order);

}  // namespace napkin::schedule
