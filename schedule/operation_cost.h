// What operations keep the units of a processor busy for.
#pragma once

#include "schedule/limits.h"
#include "schedule/plan.h"
#include "schedule/program.h"

namespace napkin::schedule {

/// What a processor does in a clock, for one of the parts that its warps are spread over.
struct Rates {
    double tensor = 512;      ///< operations of the tensor core
    double exponentials = 4;  ///< results
    double lanes = 32;        ///< issued
    double shared = 32;       ///< bytes of shared memory
};
/// Warp groups multiply twice as fast as warps alone.
[[nodiscard]] Rates rates_of(bool warp_groups);
/// Operations of the tensor core in such a product.
[[nodiscard]] double tensor_rate(bool warp_groups, const Product& product);

/// Of one warp, for its share of the elements of a chunk that no mask cuts.
[[nodiscard]] Cost elements_cost(const RegionProgram& region, const Plan& plan,
                                 const Limits& limits, const Compute& compute);

}  // namespace napkin::schedule
