// Left operands in registers that are the same for every chunk of a loop: no chunk makes them
// again, nor holds what they are made of.
#pragma once

#include "schedule/plan.h"
#include "schedule/program.h"

namespace napkin::schedule {

/// Takes what computes and rounds such operands out of a loop's body, in its order: it is to stand
/// before the loop.
[[nodiscard]] Body take_same_lefts(const RegionProgram& region, const Plan& plan,
                                   const Program& program, const Loop& loop, Body& inside);

}  // namespace napkin::schedule
