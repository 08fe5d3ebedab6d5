// The schedule of a region: its choices, and the scheduled program that they make.
#pragma once

#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "derive/tile_program.h"
#include "schedule/limits.h"
#include "schedule/plan.h"
#include "schedule/program.h"
#include "schedule/region_schedule.h"

namespace napkin::schedule {

/// A region with everything chosen.
struct Scheduled {
    RegionProgram region;  ///< with tile axes, of which the plan and the programs speak
    Plan plan;
    RegionSchedule choices;  ///< complete: asked for again, they make the same
    /// The program after each pass, by the pass's name, in order; the last is what is lowered.
    std::vector<std::pair<std::string_view, Program>> passes;
    [[nodiscard]] const Program& program() const { return passes.back().second; }
};

/// A region as it is scheduled, with the same meaning: no idle folds, straight reads, maxima
/// guarded.
[[nodiscard]] RegionProgram simplified(RegionProgram region);

/// Schedules a region as it is wanted, and chooses what that leaves open: every pass in turn, each
/// a function from one program to the next. The reason where the region does not fit the tensor
/// core's way of working, or a choice cannot be kept. Where nothing helps, the program takes more
/// shared memory than there is.
[[nodiscard]] std::variant<Scheduled, Refusal> schedule(const RegionProgram& region,
                                                        const RegionSchedule& wanted,
                                                        const Limits& limits);

}  // namespace napkin::schedule
