// How many boxes of tiles a condition meets and covers, and how many points it has, without
// visiting them.
//
// A block of points is judged by the two ends of every linear form of the condition: where they
// decide it, the block counts as a whole or not at all, else it is halved, first between tiles and
// then inside one. What a block's count depends on are the forms that its ends leave open, by the
// values that they have in its corner, and the remainders of their divisions; blocks that agree in
// these are counted once. A band along a diagonal, a comb of residues and a staircase look alike
// wherever they go on, so that the time grows with the logarithm of the sizes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "diagrams/index/mask.h"

namespace napkin::index {

/// Boxes, one tile of each axis, that have a point, and that have no other; points.
struct BoxCounts {
    std::int64_t met = 0;
    std::int64_t covered = 0;
    std::int64_t points = 0;
    bool operator==(const BoxCounts&) const = default;
};

/// A part of each of some axes.
struct Block {
    std::vector<std::int64_t> first;
    std::vector<std::int64_t> count;
};
/// The points of some axes, as conditions about these alone leave them: blocks that share none, of
/// one axis in order. A block is of all tilings; of others than these its part means nothing.
struct PointBlocks {
    std::vector<std::size_t> axes;  ///< into the tilings
    std::vector<Block> blocks;
};

enum class TileState : std::uint8_t { Empty, Partial, Full };
/// The tiles of some axes, as conditions about these alone leave them, the last axis fastest.
struct TileMap {
    std::vector<std::size_t> axes;    ///< into the tilings
    std::vector<std::int64_t> tiles;  ///< of each
    std::vector<TileState> states;
};
/// Tiles beyond which there is no map.
inline constexpr std::int64_t kLargestMap = std::int64_t{1} << 28;

/// Counts over the points where a mask holds.
class BoxCounter {
public:
    /// The mask's axes that are in no tiling have to be given an index in every question.
    BoxCounter(const std::vector<Axis>& axes, const Mask& mask, const std::vector<Tiling>& tilings);
    BoxCounter(BoxCounter&&) noexcept;
    ~BoxCounter();

    /// At these indices of other axes, with axes that are cut left to the part in `within`, which
    /// begins and ends where tiles do. Nullopt where the mask depends on more than indices, or
    /// multiplies them, or there is no end to counting.
    [[nodiscard]] std::optional<BoxCounts> count(const std::map<AxisId, std::int64_t>& at,
                                                 const Ranges& within = {});
    /// A box is of the least of the states that its tiles have in the maps, and full as far as axes
    /// go that are in none.
    [[nodiscard]] std::optional<std::vector<TileMap>> maps(
        const std::map<AxisId, std::int64_t>& at);
    /// A point is left where each of these has it. Of tilings by single indices.
    [[nodiscard]] std::optional<std::vector<PointBlocks>> points(
        const std::map<AxisId, std::int64_t>& at);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace napkin::index
