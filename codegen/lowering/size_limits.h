// How long axes may be whose size a kernel learns at run time.
#pragma once

#include <cstdint>
#include <vector>

#include "derive/tile_program.h"
#include "schedule/limits.h"

namespace napkin::lowering {

static_assert(kMostRunTimeSize <= kMostAtRunTime, "types are inferred for no longer axes");

/// The largest size of every axis of a region, by axis: its extent, or, where `run_time`,
/// kMostRunTimeSize or less, so that every integer that is computed from sizes and indices is one
/// that the language has.
using Limits = std::vector<std::int64_t>;
[[nodiscard]] Limits size_limits(const RegionProgram& region, const std::vector<bool>& run_time);

}  // namespace napkin::lowering
