#include "perfmodel/time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "perfmodel/block_time.h"
#include "perfmodel/energy.h"
#include "perfmodel/grouped.h"
#include "perfmodel/kernel_work.h"
#include "perfmodel/pipelines.h"

namespace napkin {

namespace {

std::string scaled_text(double value, const char* unit) {
    constexpr std::array kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
    std::size_t prefix = 0;
    while (value >= 999.5 && prefix + 1 < kPrefixes.size()) {
        value /= 1000;
        ++prefix;
    }
    const bool whole = value == std::floor(value) && prefix == 0;
    return fmt::format("{:.{}f} {}{}", value,
                       whole           ? 0
                       : value < 9.995 ? 2
                       : value < 99.95 ? 1
                                       : 0,
                       kPrefixes.at(prefix), unit);
}

template <class Unit>
void add_term(std::string name, Quantity<Unit> amount, Quantity<PerSecond<Unit>> rate,
              TimeEstimate& time) {
    const Seconds taken = amount / rate;
    time.terms.push_back({std::move(name), taken, taken,
                          text_of(amount) + " at " + text_of(Quantity<Unit>{rate.value}) + "/s"});
}

/// The pipelines of the processors, the work spread evenly.
void add_pipelines(const UnitWork& all, const Busy& busy, const Machine& machine,
                   TimeEstimate& time) {
    const auto add = [&](std::string name, double seconds, std::string amount) {
        const Seconds taken{seconds / static_cast<double>(machine.processors())};
        if (seconds > 0) time.terms.push_back({std::move(name), taken, taken, std::move(amount)});
    };
    add("arithmetic", busy.arithmetic, text_of(Operations{all.instructions}));
    add("exponentials", busy.exponentials, text_of(Operations{all.exponentials}));
    add("shared memory", busy.shared(), text_of(shared_traffic(all)) + " of operands");
    std::string name = "tensor core";
    double products = 0;
    for (const auto& [type, count] : all.products) {
        if (!machine.tensor_core(type)) continue;
        name += " " + std::string(name_of(type));
        products += count;
    }
    add(name, busy.tensor, text_of(Operations{products}));
}

/// Every pipeline by itself.
void add_terms(const KernelWork& work, const UnitWork& all, const Machine& machine,
               const BlockClock& clock, TimeEstimate& time) {
    const Bytes moved{work.loaded + work.saved + work.sectors};
    if (const auto rate = machine.bandwidth(Level::Device))
        add_term("device memory", Bytes{clock.from_device(work)},
                 BytesPerSecond{rate->value * machine.figure("device.reached").value_or(1) /
                                clock.slowed(work)},
                 time);
    if (const auto rate = machine.bandwidth(Level::Cache)) add_term("cache", moved, *rate, time);
    add_pipelines(all, clock.busy(all, work), machine, time);
}

Latency latency_of(const KernelWork& work, const Machine& machine) {
    Latency latency;
    const auto take = [&](const char* key, const char* part) {
        const std::optional<double> value = machine.figure(key);
        if (!value) return latency.unknown.emplace_back(key), void();
        latency.any_known = true;
        if (part != nullptr) latency.parts.push_back({part, Seconds{*value}, Seconds{*value}, ""});
    };
    take("latency.launch", "launch");
    take("latency.start", "start");
    take("latency.device", "device memory");
    take("latency.load", nullptr);
    take("latency.barrier", nullptr);
    if (work.groups > 0) take("latency.group_product", nullptr);
    if (work.tensor_core && work.groups == 0) take("latency.product", nullptr);
    if (!work.tensor_core || work.groups > 0) take("latency.instruction", nullptr);
    return latency;
}

/// What a machine's figures of energy say of a kernel's work beside the board's idle power.
Energy energy_of(const KernelWork& work, const UnitWork& all, double from_device,
                 const Machine& machine, const TimeEstimate& time) {
    Energy energy;
    const auto figure = [&](const char* key) {
        const std::optional<double> value = machine.figure(key);
        if (!value && energy.unknown.empty()) energy.unknown = key;
        return value.value_or(0);
    };
    const double idle = figure("power.idle");
    const EnergyFigures::Drawn drawn = EnergyFigures(machine).drawn(work, all, from_device);
    if (energy.unknown.empty()) energy.unknown = drawn.unknown;
    const double worked = drawn.joules;
    const double spread = machine.figure("model.spread").value_or(0);
    const double most = machine.figure("power.limit").value_or(0) * time.high.value;
    if (!energy.unknown.empty()) {
        energy.high = most;
        return energy;
    }
    energy.low = idle * time.low.value + worked * (1 - spread);
    energy.high = idle * time.high.value + worked * (1 + spread);
    if (most > 0) energy.high = std::min(energy.high, most);
    energy.low = std::min(energy.low, energy.high);
    return energy;
}

}  // namespace

std::string text_of(const Energy& energy) {
    const auto text = [](double joules) {
        return joules < 1e-3 ? fmt::format("{:.3g} uJ", joules * 1e6)
               : joules < 1  ? fmt::format("{:.3g} mJ", joules * 1e3)
                             : fmt::format("{:.3g} J", joules);
    };
    if (energy.unknown.empty()) return text(energy.low) + " to " + text(energy.high);
    return energy.high > 0 ? "not known, at most " + text(energy.high) : "not known";
}

std::string text_of(Bytes amount) {
    return scaled_text(amount.value, "B");
}
std::string text_of(Operations amount) {
    return scaled_text(amount.value, "op");
}

std::string text_of(Seconds time) {
    if (!std::isfinite(time.value)) return "not known";
    if (time.value >= 1) return fmt::format("{:.3g} s", time.value);
    if (time.value >= 1e-3) return fmt::format("{:.3g} ms", time.value * 1e3);
    return fmt::format("{:.3g} us", time.value * 1e6);
}

namespace {

/// What is left of a kernel's time were its pipelines busy one after the other, where that is
/// longer than any of them is. Processors that have no block wait for nothing.
Seconds waiting_of(const KernelWork& work, const Machine& machine, const TimeEstimate& time) {
    if (work.target.empty()) return {};
    const auto blocks = static_cast<double>(std::max<std::int64_t>(work.blocks, 1));
    const double idle = std::max(1.0, static_cast<double>(machine.processors()) / blocks);
    Seconds rest = time.low;
    for (const TimeTerm& part : time.latency.parts) rest = rest - part.low;
    Seconds busiest;
    for (const TimeTerm& term : time.terms) {
        rest = rest - idle * term.low;
        busiest = std::max(busiest, idle * term.low);
    }
    return rest > busiest ? rest : Seconds{};
}

}  // namespace

TimeEstimate time_of(const KernelWork& work, const Machine& machine) {
    const BlockClock clock(machine);
    TimeEstimate time;
    time.resident = clock.resident_blocks(work);
    const std::int64_t slots = machine.processors() * time.resident;
    time.waves = (work.blocks + slots - 1) / slots;
    const UnitWork all = all_of(work);
    add_terms(work, all, machine, clock, time);
    std::vector<TimeTerm> longest = time.terms;
    std::stable_sort(longest.begin(), longest.end(),
                     [](const TimeTerm& a, const TimeTerm& b) { return a.low > b.low; });
    if (!longest.empty()) time.busiest = longest[0].name;
    if (longest.size() > 1) time.second = longest[1].name;
    const BlockClock::Times times = clock.interval_of(work);
    time.high = Seconds{times.high};
    time.low = Seconds{times.low};
    time.latency = latency_of(work, machine);
    if (time.is_known()) time.waiting = waiting_of(work, machine, time);
    if (time.is_known()) time.energy = energy_of(work, all, clock.from_device(work), machine, time);
    return time;
}

TimeEstimate time_of(const RegionCost& cost, const Machine& machine) {
    return time_of(cost.work ? *cost.work : general_work(cost), machine);
}

TimeEstimate time_of(const Cost& cost, const Machine& machine) {
    TimeEstimate total;
    Seconds slowest{-1};
    std::int64_t waves = 0;
    for (const RegionCost& region : cost.regions) {
        const TimeEstimate time = time_of(region, machine);
        total.low += time.low;
        total.high += time.high;
        total.energy.low += time.energy.low;
        total.energy.high += time.energy.high;
        if (total.energy.unknown.empty()) total.energy.unknown = time.energy.unknown;
        waves += time.waves;
        if (time.middle() <= slowest) continue;
        slowest = time.middle();
        total.terms = time.terms;
        total.latency = time.latency;
        total.busiest = time.busiest;
        total.second = time.second;
        total.waiting = time.waiting;
        total.resident = time.resident;
    }
    total.waves = waves;
    return total;
}

std::vector<Excess> excesses_of(const RegionCost& cost, const Machine& machine) {
    std::vector<Excess> excesses;
    for (const auto& [level, held] : cost.levels) {
        const std::optional<Bytes> available = machine.capacity(level);
        // A kernel that is known keeps part of it in registers and copies ahead, or has what parts
        // of a block hold in the block's memory.
        const auto allocated = static_cast<double>(held.allocated.bytes());
        const bool is_known = level == Level::Block && cost.work &&
                              (cost.work->tensor_core || cost.work->shared_bytes > allocated);
        const Bytes needed{is_known ? cost.work->shared_bytes : allocated};
        if (available && needed > *available)
            excesses.push_back({is_known ? "the kernel of `" + cost.name + "` takes"
                                         : "A of `" + cost.name + "` is",
                                cost.name, level,
                                text_of(needed) + " at " + std::string(name_of(level)),
                                text_of(*available)});
    }
    const std::optional<Bytes> device = machine.capacity(Level::Device);
    const Bytes arrays{static_cast<double>(cost.compulsory_bits) / 8};
    if (device && arrays > *device)
        excesses.push_back({"the arrays of `" + cost.name + "` take", cost.name, Level::Device,
                            text_of(arrays) + " at " + std::string(name_of(Level::Device)),
                            text_of(*device)});
    const std::optional<KernelWork> ideal =
        cost.work ? std::nullopt : std::optional(general_work(cost));
    const KernelWork& work = cost.work ? *cost.work : *ideal;
    const auto text = [](double amount, std::string_view what) {
        return what.starts_with("of ") ? text_of(Bytes{amount}) : grouped(std::llround(amount));
    };
    for (const BlockClock::Taken& taken : BlockClock(machine).taken_by_block(work))
        if (!taken.fits())
            excesses.push_back(
                {"a block of `" + cost.name + "` takes", cost.name, Level::Block,
                 text(taken.least, taken.what) + " " + taken.what + " of a processor",
                 text(taken.there, taken.what)});
    return excesses;
}

std::string describe(const Excess& excess) {
    return excess.what + " " + excess.needed + ", which has " + excess.available;
}

}  // namespace napkin
