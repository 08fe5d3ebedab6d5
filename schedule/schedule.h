// The schedule of a region: its choices, and the scheduled program that they make.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "derive/tile_program.h"
#include "schedule/limits.h"
#include "schedule/plan.h"
#include "schedule/program.h"

namespace napkin::schedule {

/// The scheduled program of a region by a plan: every pass in turn, each a function from one
/// program to the next.
[[nodiscard]] Program schedule(const RegionProgram& region, const tensor::Plan& plan,
                               const Limits& limits);

}  // namespace napkin::schedule
