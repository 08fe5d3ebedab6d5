// A region as a plain kernel carries it out, whose threads know no parts of a block.
//
//   for each group of 2 a at warps:            A.block, C.block stand for A.warps, C.warps
//     load A.warps from A.block          ==>   C.block = ...   for every a of the block
//     C.warps = ...
//     save C.warps to C.block
//
// Every statement within such groups is carried out for all of them at once, and a tile of theirs
// is one with the block's where nothing is converted between the two.
#pragma once

#include <optional>

#include "derive/region_program.h"

namespace napkin {

/// Nothing where the region has no level further in than a block.
[[nodiscard]] std::optional<RegionProgram> undivided_block(const RegionProgram& region);

}  // namespace napkin
