// How the warps of a block may stand: what both kinds of arrangement share.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "schedule/plan.h"
#include "schedule/region_schedule.h"

namespace napkin::schedule {

/// Registers of a processor.
inline constexpr std::int64_t kRegisters = 65536;
/// Warps are twice as many or half as many, as they are shared out; warp groups come in any number.
inline constexpr std::array<std::int64_t, 6> kCounts = {1, 2, 4, 8, 16, 32};

/// How many warps stand along the rows and along the columns of products.
struct WarpShape {
    std::int64_t down = 1;
    std::int64_t across = 1;
    [[nodiscard]] std::int64_t warps() const { return down * across; }
};

/// What speaks against a shape, and the choices that may have led to it, nearest first.
struct Objection {
    std::string reason;
    std::vector<const char*> choices;
};
/// The refusal of the nearest choice that was made, of none where none was.
[[nodiscard]] Refusal refused(const Objection& objection, const RegionSchedule& wanted,
                              std::string help);

/// Choices that contradict each other, or are no numbers of warps.
[[nodiscard]] std::optional<Refusal> why_no_shape(const Limits& limits,
                                                  const RegionSchedule& wanted);
/// Whether a shape is as it was asked for.
[[nodiscard]] bool as_wanted(const WarpShape& shape, const RegionSchedule& wanted);

/// Of an axis in a block, in whole tiles of the tensor core.
[[nodiscard]] std::int64_t extent_of(const Plan& plan, AxisId axis);
/// The column axis that several warps may share: the widest along which results of products run,
/// if nothing needs a whole row of it. Where other results run along other axes, every warp
/// computes all of these, which it may not save.
[[nodiscard]] std::optional<AxisId> shareable(const RegionProgram& region, const Plan& plan);
/// Columns of results and of other fragments that a warp holds at the same time, at most, where so
/// many warps share those along some axes.
[[nodiscard]] std::int64_t columns_held(const Plan& plan, const std::set<AxisId>& split = {},
                                        std::int64_t across = 1);

}  // namespace napkin::schedule
