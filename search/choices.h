// What search chooses of a kernel's schedule beyond what the planner does: how many blocks share a
// processor, whether a block takes tile after tile, and maxima that stay as they are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "derive/state.h"
#include "perfmodel/block_time.h"
#include "perfmodel/kernel_work.h"

namespace napkin {

/// A kernel with what was chosen of it, and its predicted time.
struct ChosenKernel {
    schedule::RegionSchedule schedule;
    KernelWork work;
    Seconds time;
};

/// The faster of a kernel of warp groups and others in which blocks share a processor or take one
/// tile each; its turns are those of `work`. Nothing where none is faster, or there are no groups.
[[nodiscard]] std::optional<ChosenKernel> faster_blocks(const RegionProgram& region,
                                                        const RegionCost& cost,
                                                        const KernelWork& work,
                                                        const KernelRequest& request,
                                                        const BlockClock& clock);
/// Likewise, where maxima stay as they are while what is relative to them keeps in range, with what
/// the request asks for besides.
[[nodiscard]] std::optional<ChosenKernel> faster_stale(const RegionProgram& region,
                                                       const RegionCost& cost,
                                                       const KernelWork& work,
                                                       const KernelRequest& request,
                                                       const BlockClock& clock);

/// `schedule resident = 3 in O`; `region` is empty where there is one alone.
[[nodiscard]] std::vector<Command> commands_of(const schedule::RegionSchedule& schedule,
                                               const std::string& region);

}  // namespace napkin
