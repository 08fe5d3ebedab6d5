// The work of a plain kernel, which has no schedule: its threads take the statements of the tile
// program one after the other, each dealt out to them anew, with a barrier wherever one reads what
// others wrote.
#pragma once

#include "derive/tile_program.h"
#include "perfmodel/cost.h"
#include "perfmodel/work.h"

namespace napkin {

[[nodiscard]] KernelWork plain_work(const RegionProgram& region, const RegionCost& cost);

}  // namespace napkin
