// Whether bulk copies bring what a load gathers along tile axes.
#pragma once

#include <string>
#include <variant>

#include "schedule/fit_copies.h"

namespace napkin::schedule {

/// As box_of, for a load along tile axes of an array whose type and contiguous dimension fit.
[[nodiscard]] std::variant<Box, std::string> gathered_box_of(const RegionProgram& region,
                                                             const Plan& plan, const Limits& limits,
                                                             const Load& load);

}  // namespace napkin::schedule
