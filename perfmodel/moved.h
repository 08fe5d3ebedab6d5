// What a load or a save of a tile program moves in one instance.
#pragma once

#include <optional>
#include <vector>

#include "derive/tile_program.h"
#include "perfmodel/tile_count.h"

namespace napkin {

struct Moved {
    ArrayId array;
    Level level = Level::Block;  ///< the inner end
    ElementType type = ElementType::F32;
    bool is_save = false;
    std::vector<Footprint> dimensions;
    /// Indices of the dimension along which elements follow each other in memory.
    std::vector<Expression> innermost;
};
[[nodiscard]] Moved moved_by(const RegionProgram& region, const Load& load);
[[nodiscard]] Moved moved_by(const RegionProgram& region, const Save& save);

/// The axis that its innermost index is of; none where it is of several or of none, or where data
/// decides.
[[nodiscard]] std::optional<AxisId> axis_along(const Moved& moved);
/// Bytes that come for each that is asked for, in pieces of so many elements: memory and caches
/// give sectors of 32.
[[nodiscard]] double sector_share(double piece, double bits);
/// By what share device memory takes longer where so many elements of rows that are longer are
/// moved together. Where other blocks move the rest of the rows meanwhile, 7 % for every half of
/// 512 bytes (sums of columns of 16384 x 4096 numbers on an H200, in tiles of 16 to 1024 columns).
/// Where the rest is for later chunks of the same block, a page is opened for what it asks of it at
/// a time, which takes as long as 90 bytes, but hides behind pieces of 512 (128 x 8192 x 8192
/// products on an H200, in chunks of 64 and 128; longer chunks of eight rows are no faster); rows
/// of a kilobyte, of which a page holds several, show nothing of it.
[[nodiscard]] double apart_share(double piece, double row, double bits, bool in_chunks);

[[nodiscard]] std::vector<Footprint> footprints_of(const std::vector<AxisId>& axes);

}  // namespace napkin
