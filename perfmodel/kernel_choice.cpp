#include "perfmodel/kernel_choice.h"

#include <algorithm>
#include <memory>

#include "diagrams/source.h"
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

schedule::Refusal unknown_choice(const schedule::SettingName& choice, const std::string& target) {
    return {"target `" + target + "` has no choice `" + text_of(choice) + "`",
            "leave it out, or choose another target", choice};
}

bool has_room(const KernelWork& work, const KernelRequest& request) {
    return work.shared_bytes <= static_cast<double>(request.limits.shared_memory);
}

bool is_faster_alone(const RegionProgram& region, const RegionCost& cost,
                     const KernelRequest& request) {
    KernelRequest groups = on(kWarpGroups, request);
    auto made = tensor_work(region, cost, groups);
    if (std::holds_alternative<schedule::Refusal>(made)) {
        groups.schedule = {};
        made = tensor_work(region, cost, groups);
    }
    const KernelWork* work = std::get_if<KernelWork>(&made);
    return work != nullptr && faster_alone(region, cost, groups, *work).has_value();
}

Choice choose(const RegionProgram& region, const RegionCost& cost, const KernelRequest& request) {
    Choice choice;
    for (const char* target : {kWarpGroups, kWarps}) {
        if (target == kWarpGroups && request.target != kWarpGroups) continue;
        if (const auto unknown = schedule::unknown_to(request.schedule, target)) {
            choice.why_none = unknown_choice(*unknown, target);
            choice.refused = !request.best && target == request.target;
            if (choice.refused) break;
            continue;
        }
        auto made = tensor_work(region, cost, on(target, request));
        if (KernelWork* work = std::get_if<KernelWork>(&made)) {
            if (request.best && !has_room(*work, request)) continue;
            auto faster = faster_alone(region, cost, request, *work);
            return {faster ? std::move(faster) : std::optional(std::move(*work))};
        }
        choice.why_none = std::get<schedule::Refusal>(std::move(made));
        choice.refused = choice.why_none.setting && !(target == kWarpGroups && request.best &&
                                                      is_faster_alone(region, cost, request));
        if (choice.refused) break;
    }
    return choice;
}

/// The machine that kernels of an architecture with several targets are compared on.
const std::shared_ptr<const BlockClock>& reference_clock() {
    static const std::shared_ptr<const BlockClock> clock = [] {
        SourceMap sources;
        const Result<Machine> machine = load_machine(sources, "H200");
        invariant(machine.has_value(), "the machine that targets are compared on is not there");
        return std::make_shared<const BlockClock>(*machine);
    }();
    return clock;
}

}  // namespace

std::optional<KernelWork> faster_alone(const RegionProgram& region, const RegionCost& cost,
                                       const KernelRequest& request, const KernelWork& work) {
    if (!request.best || work.groups == 0 || schedule::unknown_to(request.schedule, kWarps))
        return std::nullopt;
    auto made = tensor_work(region, cost, on(kWarps, request));
    KernelWork* const alone = std::get_if<KernelWork>(&made);
    if (alone == nullptr || alone->spills() || !has_room(*alone, request)) return std::nullopt;
    // The model tells times apart by no less than a hundredth.
    constexpr double kApart = 1.01;
    if (!(kApart * request.best->middle_of(*alone) < request.best->middle_of(work)))
        return std::nullopt;
    return std::move(*alone);
}

bool is_faster_alone(const RegionProgram& region, const KernelRequest& request) {
    const Result<RegionCost> cost = quick_cost_of(region);
    return cost && is_faster_alone(region, *cost, request);
}

KernelRequest best_request(const std::string& newest, schedule::Limits limits) {
    KernelRequest request;
    request.target = newest;
    request.limits = std::move(limits);
    request.best = reference_clock();
    return request;
}

KernelRequest kernels_for(const Machine& machine, const std::string& target) {
    KernelRequest request;
    if (target.empty()) request.best = reference_clock();
    request.target = !target.empty() || machine.target.empty() ? target
                     : machine.target == kWarpGroups           ? kWarpGroups
                                                               : kWarps;
    if (const auto bytes = machine.shared_memory()) request.limits.shared_memory = *bytes;
    return request;
}

void add_work(const RegionProgram& region, const KernelRequest& request, RegionCost& cost) {
    constexpr std::int64_t kRegisters = 262144;
    const std::int64_t held = cost.levels.at(Level::Block).allocated.bytes();
    if (held > request.limits.shared_memory + kRegisters) return;
    Choice choice;
    if (request.target != kPlain) choice = choose(region, cost, request);
    const auto unknown = schedule::unknown_to(request.schedule, kPlain);
    if (unknown && request.target == kPlain) choice.why_none = unknown_choice(*unknown, kPlain);
    if (choice.refused || (!choice.work && unknown))
        cost.refused = std::move(choice.why_none);
    else
        cost.work = choice.work ? std::move(choice.work) : plain_work(region, cost);
    // A machine without a target has such work, and no kernels.
    if (cost.work && request.target.empty()) cost.work->target.clear();
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
        if (region.work && !region.work->target.empty() &&
            std::find(targets.begin(), targets.end(), region.work->target) == targets.end())
            targets.push_back(region.work->target);
    std::string text;
    for (const std::string& target : targets) text += (text.empty() ? "" : ", ") + target;
    return text;
}

}  // namespace napkin
