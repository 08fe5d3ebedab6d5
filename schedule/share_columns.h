// Columns that warps across share, whatever axis they lie along: each warp holds its part of every
// fragment. What folds along such an axis is put together from the parts, through shared memory,
// and a left operand that lies along one is published there.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "schedule/plan.h"

namespace napkin::schedule {

/// The axes along which results of products and other fragments run, beside the rows.
[[nodiscard]] std::set<AxisId> column_axes(const Plan& plan);

/// Why so many warps across cannot share all of them.
[[nodiscard]] std::optional<std::string> why_not_shared(const RegionProgram& region,
                                                        const Plan& plan, std::int64_t across);

/// Notes which folds are put together and which operands are published, once the plan says what is
/// shared.
void share_columns(const RegionProgram& region, Plan& plan);

}  // namespace napkin::schedule
