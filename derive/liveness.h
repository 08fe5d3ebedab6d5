// Which variables of a tile program hold something, statement by statement.
//
// A variable is held from the first statement that touches it to the last one. Where a loop or a
// parallel block contains some of these statements and not all of them, the whole of it counts:
// a later iteration may read what an earlier one left, and the processors of an inner level each
// touch their own part. So states and resident operands are held for the whole loop, and a chunk's
// tile only within the chunk. The interpreter allocates and frees by the same rule.
#pragma once

#include <cstddef>
#include <vector>

#include "derive/region_program.h"

namespace napkin {

/// What is held around one Load, Compute or Save; leaves are numbered in program order.
struct Moment {
    const TileStatement* statement = nullptr;  ///< points into the region
    std::vector<VariableId> during;  ///< inputs and outputs of the statement both, ascending
    std::vector<VariableId> after;   ///< without those that this statement was the last to touch
};

/// One moment a leaf statement, in program order.
[[nodiscard]] std::vector<Moment> liveness(const RegionProgram& region);

/// Variables that a Load, Compute or Save reads or writes; empty for compound statements.
[[nodiscard]] std::vector<VariableId> variables_touched(const RegionProgram& region,
                                                        const TileStatement& statement);

}  // namespace napkin
