// A time that no kernel of a region is faster than by the model, whatever its tiling.
#pragma once

#include "derive/state.h"
#include "perfmodel/block_time.h"
#include "perfmodel/cost.h"
#include "perfmodel/machine.h"

namespace napkin {

/// Of a region of a state in which nothing is tiled: the launch, and the longer of two. Device
/// memory delivers what results need (perfmodel/bound.h) once, and takes them; the processors that
/// can have a block each share the products, but where conditions may leave some out. Nothing where
/// the region has no program.
[[nodiscard]] std::optional<Seconds> least_time(const State& state, const Region& region,
                                                const Machine& machine);

/// Whether chunks of a fold may be left out, or a branch.
[[nodiscard]] bool is_conditional(const Diagram& diagram, const Region& region);

/// Of a tiling with this cost: it moves what it moves, and all processors share its products.
[[nodiscard]] Seconds least_time(const RegionCost& cost, const Machine& machine,
                                 const BlockClock& clock);

}  // namespace napkin
