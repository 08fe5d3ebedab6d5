// Which chunks of a streamed axis need no visit.
#pragma once

#include <vector>

#include "derive/region_program.h"

namespace napkin {

/// Conditions that every fold over the streamed axes shares: where one holds
/// nowhere in a chunk, the chunk adds nothing. None where the region saves something along one of
/// the axes: it visits every chunk.
struct ChunkMasks {
    std::vector<Expression> index;  ///< over indices alone
    std::vector<Expression> data;   ///< which read 32-bit integers of inputs at plain indices
};
[[nodiscard]] ChunkMasks chunk_masks(const Diagram& diagram, const Region& region,
                                     const std::vector<ArrayId>& saves);

}  // namespace napkin
