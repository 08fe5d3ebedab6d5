// How the warps of a block share a region's rows and columns.
#pragma once

#include <optional>
#include <string>

#include "schedule/plan.h"

namespace napkin::tensor {

/// Fills the plan's warps, lanes and rows; the reason where no arrangement fits the registers.
[[nodiscard]] std::optional<std::string> arrange(const RegionProgram& region,
                                                 const schedule::Limits& limits, Plan& plan);

}  // namespace napkin::tensor
