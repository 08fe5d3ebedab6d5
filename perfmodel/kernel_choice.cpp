#include "perfmodel/kernel_choice.h"

#include <algorithm>

#include "perfmodel/plain_work.h"

namespace napkin {
namespace {

constexpr const char* kWarpGroups = "sm_90a";
constexpr const char* kWarps = "sm_80";
constexpr const char* kPlain = "simt";

/// A kernel for the tensor core; else why there is none, and whether since it was asked for
/// otherwise.
struct Choice {
    std::optional<KernelWork> work;
    schedule::Refusal why_none = {};
    bool refused = false;
};

KernelRequest on(const std::string& target, KernelRequest request) {
    request.limits.warp_groups = target == kWarpGroups;
    return request;
}

/// Whether warps that multiply alone are faster, with all that is asked for put aside.
bool is_slower_as_it_is(const RegionProgram& region, const RegionCost& cost,
                        KernelRequest request) {
    request.schedule = {};
    const auto made = tensor_work(region, cost, request);
    const KernelWork* work = std::get_if<KernelWork>(&made);
    return work != nullptr && work->slower;
}

Choice choose(const RegionProgram& region, const RegionCost& cost, const KernelRequest& request) {
    Choice choice;
    for (const char* target : {kWarpGroups, kWarps}) {
        if (target == kWarpGroups && request.target != kWarpGroups) continue;
        if (schedule::unknown_to(request.schedule, target)) continue;
        const KernelRequest own = on(target, request);
        auto made = tensor_work(region, cost, own);
        KernelWork* const work = std::get_if<KernelWork>(&made);
        const auto room = static_cast<double>(request.limits.shared_memory);
        if (work != nullptr && request.best && work->shared_bytes > room) continue;
        if (work != nullptr) {
            choice = {std::move(*work)};
            if (!(request.best && choice.work->slower)) break;
        } else if (choice.work) {
            break;
        } else {
            choice.why_none = std::get<schedule::Refusal>(std::move(made));
            choice.refused =
                choice.why_none.setting && !(request.best && is_slower_as_it_is(region, cost, own));
            if (choice.refused) break;
        }
    }
    return choice;
}

}  // namespace

KernelRequest kernels_for(const Machine& machine, const std::string& target) {
    KernelRequest request;
    request.best = target.empty();
    request.target = !target.empty() || machine.target.empty() ? target
                     : machine.target == kWarpGroups           ? kWarpGroups
                                                               : kWarps;
    if (const std::optional<Bytes> capacity = machine.capacity(Level::Block))
        request.limits.shared_memory = static_cast<std::int64_t>(capacity->value);
    return request;
}

void add_work(const RegionProgram& region, const KernelRequest& request, RegionCost& cost) {
    constexpr std::int64_t kRegisters = 262144;
    const std::int64_t held = cost.levels.at(Level::Block).allocated.bytes();
    if (held > request.limits.shared_memory + kRegisters) return;
    Choice choice;
    if (request.target != kPlain) choice = choose(region, cost, request);
    if (choice.refused || (!choice.work && schedule::unknown_to(request.schedule, kPlain)))
        cost.refused = std::move(choice.why_none);
    else
        cost.work = choice.work ? std::move(choice.work) : plain_work(region, cost);
}

Result<WantedKernels> WantedKernels::of(const State& state, KernelRequest request,
                                        const std::vector<schedule::Request>& others) {
    Result<std::map<std::string, schedule::Request>> asked = schedule::requests_of(state, others);
    if (!asked) return asked.error();
    return WantedKernels(std::move(request), std::move(asked).value());
}

KernelRequest WantedKernels::operator()(const std::string& region) const {
    KernelRequest request = request_;
    if (const auto asked = asked_.find(region); asked != asked_.end())
        request.schedule = asked->second.schedule;
    return request;
}

std::string spill_text(const RegionCost& cost) {
    return "a thread of `" + cost.name + "` lacks " + std::to_string(cost.work->missing_registers) +
           " registers";
}

std::string targets_of(const Cost& cost) {
    std::vector<std::string> targets;
    for (const RegionCost& region : cost.regions)
        if (region.work &&
            std::find(targets.begin(), targets.end(), region.work->target) == targets.end())
            targets.push_back(region.work->target);
    std::string text;
    for (const std::string& target : targets) text += (text.empty() ? "" : ", ") + target;
    return text;
}

}  // namespace napkin
