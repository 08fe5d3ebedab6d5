// Which kernel of a region is costed: the one that `emit` makes.
//
// That is the newest target's that takes the region; where nobody asks for a target, an older one's
// where that is faster on an H200 by the model, whatever the machine, so that a kernel is the same
// on all machines of an architecture. What is asked for of a schedule is kept to, or refused.
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

/// For the best of an architecture's kernels, within limits.
[[nodiscard]] KernelRequest best_request(const std::string& newest, schedule::Limits limits);

/// Instead of the work of warp groups that of warps which multiply alone, where nobody asks for a
/// target and that is faster.
[[nodiscard]] std::optional<KernelWork> faster_alone(const RegionProgram& region,
                                                     const RegionCost& cost,
                                                     const KernelRequest& request,
                                                     const KernelWork& work);
/// Whether warps that multiply alone are faster for a region than the warp groups that take it, be
/// it with what is asked for or, where that is refused, without.
[[nodiscard]] bool is_faster_alone(const RegionProgram& region, const KernelRequest& request);

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
