// How a block's threads bring a load into shared memory themselves, where no bulk copy does.
#pragma once

#include "derive/tile_program.h"
#include "schedule/plan.h"

namespace napkin::schedule {

struct OwnCopy {
    /// An asynchronous copy for so many bytes; two reads that are put together, where rows begin
    /// anywhere; or element by element.
    enum class How { Vectors, Shifted, Elements };
    How how = How::Vectors;
    std::int64_t bytes = 16;  ///< of one copy
    bool gathered = false;    ///< whether each has a place of its own to find
};

[[nodiscard]] OwnCopy own_copy_of(const RegionProgram& region, const Plan& plan, const Load& load);

}  // namespace napkin::schedule
