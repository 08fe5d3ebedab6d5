// Which chunks of a streamed axis need no visit.
#pragma once

#include <vector>

#include "derive/accumulator.h"

namespace napkin {

/// Conditions that everything which a chunk folds into its states shares, whether the user wrote
/// the fold or streaming made it: where one holds nowhere in a chunk, the chunk adds nothing. None
/// where the region saves something along one of the axes: it visits every chunk.
struct ChunkMasks {
    std::vector<Expression> index;  ///< over indices alone
    std::vector<Expression> data;   ///< which read 32-bit integers of inputs at plain indices
};
[[nodiscard]] ChunkMasks chunk_masks(const Diagram& diagram, const Region& region,
                                     const Accumulator& accumulator,
                                     const std::vector<ArrayId>& saves);

}  // namespace napkin
