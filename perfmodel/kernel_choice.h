// Which kernel of a region is costed: the one that `emit` makes.
//
// That is the newest target's that takes the region; where nobody asks for a target, an older one's
// where the newest is known to be slower (schedule/slower.h). What is asked for of a schedule is
// kept to, or refused.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "derive/state.h"
#include "perfmodel/kernel_work.h"
#include "perfmodel/machine.h"
#include "schedule/requests.h"

namespace napkin {

/// For kernels of the target that was asked for, else of the best that the machine runs; an
/// abstract machine has none.
[[nodiscard]] KernelRequest kernels_for(const Machine& machine, const std::string& target = {});

/// Notes with a region's cost what its kernel does, or why it is not made as it was asked for.
/// Nothing is known of a block that fits nowhere.
void add_work(const RegionProgram& region, const KernelRequest& request, RegionCost& cost);

/// What is wanted of each region's kernel: by the derivation, then by `others`.
class WantedKernels {
public:
    /// The diagnostic where something is asked of a region that there is not.
    static Result<WantedKernels> of(const State& state, KernelRequest request,
                                    const std::vector<schedule::Request>& others = {});
    [[nodiscard]] KernelRequest operator()(const std::string& region) const;

private:
    WantedKernels(KernelRequest request, std::map<std::string, schedule::Request> asked)
        : request_(std::move(request)), asked_(std::move(asked)) {}
    KernelRequest request_;
    std::map<std::string, schedule::Request> asked_;
};

/// `a thread of `O` lacks 12 registers`, of a region whose kernel spills.
[[nodiscard]] std::string spill_text(const RegionCost& cost);
/// Targets of the kernels that a cost knows, the first region's first: `sm_90a, sm_80`.
[[nodiscard]] std::string targets_of(const Cost& cost);

}  // namespace napkin
