#include "search/choices.h"

#include <variant>

#include "search/predict.h"

namespace napkin {
namespace {

constexpr std::int64_t kMostResident = 4;

/// The kernel of a request where it is faster than another.
std::optional<ChosenKernel> faster(const RegionProgram& region, const RegionCost& cost,
                                   KernelRequest request, const schedule::RegionSchedule& chosen,
                                   Seconds than, const BlockClock& clock) {
    for (const schedule::Setting& setting : schedule::settings_of(chosen))
        if (schedule::set(request.schedule, setting)) return std::nullopt;
    request.limits.warp_groups = true;
    auto made = tensor_work(region, cost, request);
    KernelWork* const work = std::get_if<KernelWork>(&made);
    const auto room = static_cast<double>(request.limits.shared_memory);
    if (work == nullptr || work->spills() || work->shared_bytes > room) return std::nullopt;
    const Seconds time = clock.middle_of(*work);
    if (!is_faster(time, than)) return std::nullopt;
    return ChosenKernel{chosen, std::move(*work), time};
}

}  // namespace

std::optional<ChosenKernel> faster_blocks(const RegionProgram& region, const RegionCost& cost,
                                          const KernelWork& work, const KernelRequest& request,
                                          const BlockClock& clock) {
    if (work.groups == 0 || work.loops.empty()) return std::nullopt;
    KernelRequest as_it_turns = request;
    as_it_turns.schedule.leads = work.choices.leads;
    as_it_turns.schedule.fetched = work.choices.fetched;
    std::optional<ChosenKernel> best;
    Seconds least = clock.middle_of(work);
    const auto try_one = [&](const schedule::RegionSchedule& chosen) {
        auto found = faster(region, cost, as_it_turns, chosen, least, clock);
        if (!found) return false;
        least = found->time;
        best = std::move(found);
        return true;
    };
    for (std::int64_t resident = 1; resident <= kMostResident; ++resident) {
        bool is_faster = resident == 1;
        for (const bool takes_one : {false, true}) {
            schedule::RegionSchedule chosen;
            if (resident != work.choices.resident.value_or(1)) chosen.resident = resident;
            if (takes_one) chosen.persistent = false;
            if (chosen == schedule::RegionSchedule{}) continue;
            is_faster = try_one(chosen) || is_faster;
        }
        // More than one group share a processor's registers already.
        if (work.groups > 1 || !is_faster) break;
    }
    return best;
}

std::optional<ChosenKernel> faster_stale(const RegionProgram& region, const RegionCost& cost,
                                         const KernelWork& work, const KernelRequest& request,
                                         const BlockClock& clock) {
    if (work.groups == 0 || work.loops.empty()) return std::nullopt;
    schedule::RegionSchedule chosen;
    if (schedule::set(chosen, {{"stale", ""}, true})) return std::nullopt;
    return faster(region, cost, request, chosen, clock.middle_of(work), clock);
}

std::vector<Command> commands_of(const schedule::RegionSchedule& schedule,
                                 const std::string& region) {
    std::vector<Command> commands;
    for (const schedule::Setting& setting : schedule::settings_of(schedule)) {
        Command command;
        command.rule = "schedule";
        command.names = {setting.name.field};
        command.of = setting.name.of;
        const bool* flag = std::get_if<bool>(&setting.value);
        command.value = flag == nullptr ? std::to_string(std::get<std::int64_t>(setting.value))
                        : *flag         ? "true"
                                        : "false";
        command.in = region;
        commands.push_back(std::move(command));
    }
    return commands;
}

}  // namespace napkin
