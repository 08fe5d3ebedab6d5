// The operations, buffers and loops of a region's tile program, in the order of its text: the
// scheduled program that the passes start from.
#pragma once

#include "derive/tile_program.h"
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
/// Operations of the tensor core in such a product: in 8 bits twice as many.
[[nodiscard]] double tensor_rate(bool warp_groups, const Product& product);

/// The region's loads, computations and saves, in the order of the text; an operation's `leaf`
/// counts them.
[[nodiscard]] std::vector<const TileStatement*> leaves_of(const RegionProgram& region);

/// The region's loops, in the order of the text; a ChunkLoop's `source` counts them.
[[nodiscard]] std::vector<const Loop*> loops_of(const RegionProgram& region);

/// One operation for each leaf that a block carries out; two for a product whose right operand is
/// computed, which is published before, and for a save through shared memory, which is staged.
/// Loads that stay in device memory are none. Costs are one warp's.
[[nodiscard]] Program form(const RegionProgram& region, const Plan& plan, const Limits& limits);

}  // namespace napkin::schedule
