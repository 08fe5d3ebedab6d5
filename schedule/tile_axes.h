// Tile axes: several axes that stand on one side of a product, or along rows where no product is,
// as one.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "derive/tile_program.h"

namespace napkin::schedule {

/// A part of a tile axis: an axis of the diagram, and how many of its indices a block holds.
struct TilePart {
    AxisId axis;
    std::int64_t extent = 1;
    bool operator==(const TilePart&) const = default;
};
/// An axis that counts the indices which a block holds of its parts, the last part's fastest. It
/// starts at 0 in every block and chunk, and has as many indices as fit: at an edge, where a part
/// has fewer, those beyond it are nobody's.
struct TileAxis {
    AxisId axis;
    std::vector<TilePart> parts;
    bool operator==(const TileAxis&) const = default;
};

/// A region with its tile axes, which stand after those of the diagram.
struct TiledRegion {
    RegionProgram region;
    std::vector<TileAxis> axes;
};

/// Gives arrays that run along several axes on one side of a product, or of a row where no product
/// is, a tile axis instead, where every array of the region can have it; the region as it is where
/// none can.
[[nodiscard]] TiledRegion with_tile_axes(const RegionProgram& region);

/// The tile axis of that id, or null.
[[nodiscard]] const TileAxis* find_tile_axis(const std::vector<TileAxis>& axes, AxisId axis);
/// The tile axis that an axis is a part of; the axis itself where it is no part.
[[nodiscard]] AxisId tile_axis_of(const std::vector<TileAxis>& axes, AxisId axis);
/// Whether a load fills an array that runs along a tile axis: it gathers.
[[nodiscard]] bool is_tiled(const std::vector<TileAxis>& axes, const Load& load);
/// The axes that an expression varies along: those that it names, the tile axes that these are
/// parts of, and the parts of the tile axes that it names.
[[nodiscard]] std::set<AxisId> axes_along(const std::vector<TileAxis>& axes,
                                          const Expression& expression);

}  // namespace napkin::schedule
