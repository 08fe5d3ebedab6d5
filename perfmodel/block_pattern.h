// How many chunks the blocks of a region visit where a mask leaves some out.
#pragma once

#include <vector>

#include "derive/tile_program.h"
#include "perfmodel/work.h"

namespace napkin {

/// The chunks that each block visits of the first masked loop and the loops within it, those of the
/// innermost, blocks in the order of their start: the groups that the mask speaks of, heaviest
/// first. Where there are very many blocks some are counted for all. Empty where no loop is masked.
[[nodiscard]] std::vector<Visits> pattern_of(const RegionProgram& region);

}  // namespace napkin
