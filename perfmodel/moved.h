// What a load or a save of a tile program moves in one instance.
#pragma once

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
};
[[nodiscard]] Moved moved_by(const RegionProgram& region, const Load& load);
[[nodiscard]] Moved moved_by(const RegionProgram& region, const Save& save);

[[nodiscard]] std::vector<Footprint> footprints_of(const std::vector<AxisId>& axes);

}  // namespace napkin
