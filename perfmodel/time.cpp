#include "perfmodel/time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "perfmodel/kernel_work.h"

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

/// Seconds for which one block's work keeps each pipeline of its processor busy.
struct Busy {
    std::map<std::string, double> seconds;
    [[nodiscard]] double longest() const {
        double most = 0;
        for (const auto& [name, time] : seconds) most = std::max(most, time);
        return most;
    }
    /// One after the other, but for what feeds another all along.
    [[nodiscard]] double sum() const {
        double all = 0;
        for (const auto& [name, time] : seconds) all += time;
        return all - hidden;
    }
    double hidden = 0;
};

/// A machine's rates, of one processor, as warps or groups of warps reach them.
class Rates {
public:
    explicit Rates(const Machine& machine, bool of_groups = false)
        : machine_(machine), of_groups_(of_groups) {
        const double boost = figure("processor.clock", 0);
        slower_ = boost > 0 ? figure("processor.sustained", boost) / boost : 1;
    }
    [[nodiscard]] double figure(const char* key, double otherwise) const {
        return machine_.figure(key).value_or(otherwise);
    }

    [[nodiscard]] Busy busy(const UnitWork& work) const {
        Busy busy;
        double fused = 0;
        for (const auto& [type, count] : work.products) {
            const auto rate = machine_.tensor_core(type);
            if (rate)
                add("tensor core " + std::string(name_of(type)), count,
                    rate->value * share("tensor_core.reached", "warp_group.reached"), busy);
            else
                fused += count / 2;
        }
        add("shared memory", work.shared / share("block.fetched", "warp_group.fetched"),
            machine_.rate("block.bandwidth"), busy);
        add("exponentials", work.exponentials, machine_.rate("processor.exponential"), busy);
        add("arithmetic",
            work.instructions / share("processor.issued", "warp_group.issued") + fused,
            machine_.rate("processor.arithmetic"), busy);
        // The tensor core takes a warp group's operands from shared memory while it multiplies.
        const auto& seconds = busy.seconds;
        if (const auto shared = seconds.find("shared memory");
            of_groups_ && shared != seconds.end())
            busy.hidden = std::min(shared->second, multiplied(busy));
        return busy;
    }

    /// Of a block's work where it has the processor to itself: of the pipelines, or of its loads.
    [[nodiscard]] double alone(const UnitWork& work) const {
        const auto port = machine_.rate("cache.port");
        return std::max(computed(work), port ? work.loaded * of_one(*port) : 0);
    }
    /// What a warp waits for whatever else runs. A warp group goes on when its products are there.
    [[nodiscard]] double chain(const UnitWork& work) const {
        const double barriers = work.barriers * figure("latency.barrier", 0);
        if (!of_groups_) return work.steps * figure("latency.product", 0) + barriers;
        return computed(work) + work.steps * figure("latency.group_product", 0) + barriers;
    }
    /// How long a block of warp groups is there beside its chunks: until its first operands have
    /// come and its results are gone, while its first and its last chunk hide behind nothing.
    [[nodiscard]] double ramp(const KernelWork& work) const {
        if (!of_groups_ || work.loops.empty()) return 0;
        const auto port = machine_.rate("cache.port");
        return figure("latency.group_block", 0) + computed(work.edges) +
               2 * busy(work.loops.front().chunk).sum() +
               (port ? (work.edges.loaded + work.edges.saved) * of_one(*port) : 0);
    }
    /// Instructions more, when everything else hides behind nothing.
    [[nodiscard]] double exposed(double instructions) const {
        UnitWork work;
        work.instructions = instructions;
        return exposed() * busy(work).sum();
    }

private:
    static double multiplied(const Busy& busy) {
        double all = 0;
        for (const auto& [name, time] : busy.seconds)
            if (name.starts_with("tensor core")) all += time;
        return all;
    }
    [[nodiscard]] double computed(const UnitWork& work) const {
        const Busy each = busy(work);
        const double longest = each.longest();
        return longest + exposed() * (each.sum() - longest);
    }
    [[nodiscard]] double share(const char* of_warps, const char* of_groups) const {
        return figure(of_groups_ ? of_groups : of_warps, 1);
    }
    [[nodiscard]] double exposed() const {
        return share("processor.exposed", "warp_group.exposed");
    }

    /// Seconds of one processor for a unit, of a rate of all of them at the clock of the file.
    [[nodiscard]] double of_one(double rate) const {
        return static_cast<double>(machine_.processors()) / (rate * slower_);
    }
    void add(const std::string& name, double amount, std::optional<double> rate, Busy& busy) const {
        if (rate && amount > 0) busy.seconds[name] += amount * of_one(*rate);
    }

    const Machine& machine_;
    bool of_groups_ = false;
    double slower_ = 1;
};

std::int64_t resident_blocks(const KernelWork& work, const Machine& machine) {
    const Rates rates(machine);
    constexpr double kOthers = 160;  // bytes of a thread for addresses and counters
    const double threads = 32 * static_cast<double>(work.warps);
    // Several groups share the registers of a processor among them.
    if (work.groups > 1) return 1;
    const double of_thread =
        std::min(work.register_bytes + kOthers,
                 rates.figure("thread.capacity", work.register_bytes + kOthers));
    const double kUnit = 32;  // registers are given out so many bytes at a time
    const double registers = std::ceil(of_thread / kUnit) * kUnit * threads;
    const double block = work.shared_bytes + rates.figure("block.reserved", 0);
    double fits = rates.figure("processor.blocks", 1);
    if (const double all = rates.figure("processor.registers", 0); all > 0)
        fits = std::min(fits, std::floor(all / registers));
    if (const double all = rates.figure("processor.threads", 0); all > 0)
        fits = std::min(fits, std::floor(all / threads));
    if (const double all = rates.figure("block.per_processor", 0); all > 0 && block > 0)
        fits = std::min(fits, std::floor(all / block));
    return static_cast<std::int64_t>(std::max(fits, 1.0));
}

/// How long blocks take of which each has a processor to itself, by the share of chunks it visits.
struct BlockTimes {
    double edges = 0;
    double chunk = 0;    ///< of the masked loop
    double cut = 0;      ///< more, where a mask cuts a chunk
    double chain = 0;    ///< of a chunk, at least
    double chained = 0;  ///< of the other loops, at least
    double chunks = 0;
    double hidden = 0;  ///< of `chained`, where a tile follows another of its block

    [[nodiscard]] double of(const Visits& visits, double sharing, bool follows = false) const {
        return std::max(sharing * (edges + visits.chunks * chunk + visits.cut * cut),
                        chained - (follows ? hidden : 0) + visits.chunks * chain);
    }
};

BlockTimes block_times(const KernelWork& work, const Rates& rates) {
    BlockTimes times;
    times.edges = rates.alone(work.edges);
    times.chained = rates.ramp(work);
    if (work.choices.persistent.value_or(false))
        times.hidden = rates.figure("warp_group.overlapped", 0) * times.chained;
    for (const LoopWork& loop : work.loops) {
        const double alone = rates.alone(loop.chunk);
        const double chain = rates.chain(loop.chunk);
        if (loop.is_masked && times.chunks == 0) {
            times.chunk = alone;
            times.chain = chain;
            times.chunks = loop.chunks;
            times.cut = rates.exposed(loop.mask);
        } else {
            times.edges += alone * loop.chunks;
            times.chained += chain * loop.chunks;
        }
    }
    return times;
}

/// When the last block ends, each starting where one ends first.
double last_end(const KernelWork& work, const BlockTimes& times, std::int64_t processors,
                std::int64_t resident) {
    const std::int64_t held = std::min(resident, (work.blocks + processors - 1) / processors);
    if (work.pattern.empty() || work.data_decides) {
        const Visits all{times.chunks, 0};
        const std::int64_t slots = processors * resident;
        const std::int64_t rest = work.blocks % slots;
        const std::int64_t full = work.blocks / slots;
        const auto round = [&](std::int64_t sharing, bool follows) {
            return times.of(all, static_cast<double>(sharing), follows);
        };
        return (full > 0 ? round(resident, false) : 0) +
               static_cast<double>(std::max<std::int64_t>(full - 1, 0)) * round(resident, true) +
               (rest > 0 ? round((rest + processors - 1) / processors, full > 0) : 0);
    }
    std::vector<double> slots(static_cast<std::size_t>(processors * held), 0.0);
    for (std::int64_t block = 0; block < work.blocks; ++block) {
        const auto at = static_cast<std::size_t>(block) % work.pattern.size();
        std::pop_heap(slots.begin(), slots.end(), std::greater<>());
        slots.back() += times.of(work.pattern[at], static_cast<double>(held), slots.back() > 0);
        std::push_heap(slots.begin(), slots.end(), std::greater<>());
    }
    return *std::max_element(slots.begin(), slots.end());
}

/// Bytes that device memory delivers: all arrays once, and again what the cache has lost.
double from_device(const KernelWork& work, const Machine& machine, std::int64_t resident) {
    const double moved = work.loaded + work.saved;
    if (!machine.has(Level::Cache)) return moved;
    const double once = std::min(work.compulsory, moved);
    const std::optional<Bytes> capacity = machine.capacity(Level::Cache);
    double held = work.edges.loaded;
    for (const LoopWork& loop : work.loops)
        held += loop.chunk.loaded * static_cast<double>(loop.stages);
    if (work.loops.empty() && work.shared_bytes > 0) held = std::min(held, work.shared_bytes);
    held *= static_cast<double>(std::min(work.blocks, machine.processors() * resident));
    const double lost = capacity && held > capacity->value ? 1 - capacity->value / held : 0;
    return once + lost * (moved - once);
}

template <class Unit>
void add_term(std::string name, Quantity<Unit> amount, Quantity<PerSecond<Unit>> rate,
              TimeEstimate& time) {
    const Seconds taken = amount / rate;
    time.terms.push_back({std::move(name), taken, taken,
                          text_of(amount) + " at " + text_of(Quantity<Unit>{rate.value}) + "/s"});
}

/// The share of the masked loop's chunks that blocks visit.
double mean_share(const KernelWork& work) {
    double visited = 0;
    for (const Visits& visits : work.pattern) visited += visits.chunks;
    double chunks = 0;
    for (const LoopWork& loop : work.loops) chunks = loop.is_masked ? loop.chunks : chunks;
    return chunks > 0 ? visited / static_cast<double>(work.pattern.size()) / chunks : 1;
}

/// What a pipeline does in all, as its term tells it.
std::string amount_text(const std::string& name, const UnitWork& all) {
    if (name == "shared memory") return text_of(Bytes{all.shared}) + " of operands";
    if (name == "exponentials") return text_of(Operations{all.exponentials});
    if (name == "arithmetic") return text_of(Operations{all.instructions});
    double products = 0;
    for (const auto& [type, count] : all.products)
        products += name.ends_with(name_of(type)) ? count : 0;
    return text_of(Operations{products});
}

/// Every pipeline by itself, the work spread evenly.
void add_terms(const KernelWork& work, const Machine& machine, TimeEstimate& time) {
    const Rates rates(machine, work.groups > 0);
    const Bytes moved{work.loaded + work.saved};
    if (const auto rate = machine.bandwidth(Level::Device))
        add_term("device memory", Bytes{from_device(work, machine, time.resident)},
                 BytesPerSecond{rate->value * rates.figure("device.reached", 1)}, time);
    if (const auto rate = machine.bandwidth(Level::Cache)) add_term("cache", moved, *rate, time);
    UnitWork all = static_cast<double>(work.blocks) * work.edges;
    const double share = work.pattern.empty() || work.data_decides ? 1 : mean_share(work);
    for (const LoopWork& loop : work.loops)
        all += (loop.is_masked ? share : 1) * loop.chunks * static_cast<double>(work.blocks) *
               loop.chunk;
    for (const auto& [name, seconds] : rates.busy(all).seconds) {
        const Seconds taken{seconds / static_cast<double>(machine.processors())};
        time.terms.push_back({name, taken, taken, amount_text(name, all)});
    }
}

}  // namespace

std::string text_of(Bytes amount) {
    return scaled_text(amount.value, "B");
}
std::string text_of(Operations amount) {
    return scaled_text(amount.value, "op");
}

std::string text_of(Seconds time) {
    if (time.value >= 1) return fmt::format("{:.3g} s", time.value);
    if (time.value >= 1e-3) return fmt::format("{:.3g} ms", time.value * 1e3);
    return fmt::format("{:.3g} us", time.value * 1e6);
}

TimeEstimate time_of(const KernelWork& work, const Machine& machine) {
    const Rates rates(machine, work.groups > 0);
    TimeEstimate time;
    time.resident = resident_blocks(work, machine);
    const std::int64_t slots = machine.processors() * time.resident;
    time.waves = (work.blocks + slots - 1) / slots;
    add_terms(work, machine, time);
    double memory = 0;
    for (const TimeTerm& term : time.terms)
        if (term.name == "device memory" || term.name == "cache")
            memory = std::max(memory, term.low.value);
    std::vector<TimeTerm> longest = time.terms;
    std::stable_sort(longest.begin(), longest.end(),
                     [](const TimeTerm& a, const TimeTerm& b) { return a.low > b.low; });
    if (!longest.empty()) time.binds = longest[0].name;
    if (longest.size() > 1) time.second = longest[1].name;
    const BlockTimes times = block_times(work, rates);
    const double begin = machine.launch_latency().value + rates.figure("latency.start", 0);
    const auto total = [&](const BlockTimes& of) {
        return begin + std::max(memory, last_end(work, of, machine.processors(), time.resident));
    };
    const double spread = rates.figure("model.spread", 0);
    time.high = Seconds{total(times) * (1 + spread)};
    BlockTimes least = times;
    if (work.data_decides) least.chunks = std::min(times.chunks, 1.0);
    time.low = Seconds{total(least) * (1 - spread)};
    time.most_joules = rates.figure("power.limit", 0) * time.high.value;
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
        total.most_joules += time.most_joules;
        waves += time.waves;
        if (time.middle() <= slowest) continue;
        slowest = time.middle();
        total.terms = time.terms;
        total.binds = time.binds;
        total.second = time.second;
        total.resident = time.resident;
    }
    total.waves = waves;
    return total;
}

std::vector<Excess> excesses_of(const RegionCost& cost, const Machine& machine) {
    std::vector<Excess> excesses;
    for (const auto& [level, held] : cost.levels) {
        const std::optional<Bytes> available = machine.capacity(level);
        // A kernel that is known keeps part of it in registers, and copies ahead.
        const bool is_known = level == Level::Block && cost.work && cost.work->tensor_core;
        const Bytes needed{is_known ? cost.work->shared_bytes
                                    : static_cast<double>(held.allocated.bytes())};
        if (available && needed > *available)
            excesses.push_back({cost.name, level, needed, *available});
    }
    const std::optional<Bytes> device = machine.capacity(Level::Device);
    const Bytes arrays{static_cast<double>(cost.compulsory_bits) / 8};
    if (device && arrays > *device) excesses.push_back({cost.name, Level::Device, arrays, *device});
    return excesses;
}

std::string describe(const Excess& excess) {
    return "`" + excess.region + "` holds " + text_of(excess.needed) + " at " +
           std::string(name_of(excess.level)) + ", which has " + text_of(excess.available);
}

}  // namespace napkin
