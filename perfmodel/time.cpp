#include "perfmodel/time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

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

Bytes bytes_at(const RegionCost& cost, Level level) {
    const auto found = cost.levels.find(level);
    return {found == cost.levels.end() ? 0.0
                                       : static_cast<double>(found->second.transferred.bytes())};
}

template <class Unit>
TimeTerm term(std::string name, Quantity<Unit> least, Quantity<Unit> most,
              Quantity<PerSecond<Unit>> rate, double unevenness = 1) {
    TimeTerm result{std::move(name), unevenness * (least / rate), unevenness * (most / rate), ""};
    result.from = text_of(least) + (least == most ? "" : " to " + text_of(most)) + " at " +
                  text_of(Quantity<Unit>{rate.value}) + "/s";
    if (unevenness > 1.005) result.from += fmt::format(", {:.2f} for the last wave", unevenness);
    return result;
}

void add_transfers(const RegionCost& cost, const Machine& machine, TimeEstimate& time) {
    const Bytes moved = bytes_at(cost, Level::Block);
    const Bytes once{static_cast<double>(cost.compulsory_bits) / 8};
    const bool cached = machine.has(Level::Cache);
    if (const auto rate = machine.bandwidth(Level::Device))
        time.terms.push_back(
            term("device memory", cached ? std::min(once, moved) : moved, moved, *rate));
    if (const auto rate = machine.bandwidth(Level::Cache))
        time.terms.push_back(term("cache", moved, moved, *rate));
    const Bytes inner = bytes_at(cost, Level::Warps) + bytes_at(cost, Level::Thread);
    if (const auto rate = machine.bandwidth(Level::Block); rate && inner.value > 0)
        time.terms.push_back(term("shared memory", inner, inner, *rate));
}

void add_arithmetic(const RegionCost& cost, const Machine& machine, double unevenness,
                    TimeEstimate& time) {
    Operations rest{static_cast<double>(cost.arithmetic.operations)};
    for (const auto& [type, count] : cost.arithmetic.products) {
        const auto rate = machine.tensor_core(type);
        if (!rate) continue;
        const Operations products{static_cast<double>(count)};
        rest = rest - products;
        time.terms.push_back(term("tensor core " + std::string(name_of(type)), products, products,
                                  *rate, unevenness));
    }
    const Operations exponentials{static_cast<double>(cost.arithmetic.exponentials)};
    if (const auto rate = machine.exponentials(); rate && exponentials.value > 0)
        time.terms.push_back(term("exponentials", exponentials, exponentials, *rate, unevenness));
    if (const auto rate = machine.arithmetic(); rate && rest.value > 0)
        time.terms.push_back(term("arithmetic", rest, rest, *rate, unevenness));
}

std::int64_t resident_blocks(const RegionCost& cost, const Machine& machine) {
    const double block = static_cast<double>(cost.levels.at(Level::Block).allocated.bytes()) +
                         machine.figure("block.reserved").value_or(0);
    const double memory = machine.figure("block.per_processor").value_or(0);
    const double most = machine.figure("processor.blocks").value_or(1);
    const double fits = block > 0 ? std::floor(memory / block) : most;
    return static_cast<std::int64_t>(std::clamp(fits, 1.0, most));
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

TimeEstimate time_of(const RegionCost& cost, const Machine& machine) {
    TimeEstimate time;
    const std::int64_t processors = machine.processors();
    time.resident = resident_blocks(cost, machine);
    const double blocks = static_cast<double>(std::max<std::int64_t>(cost.blocks, 1));
    const double at_once = static_cast<double>(processors * time.resident);
    time.waves = static_cast<std::int64_t>(std::ceil(blocks / at_once));
    const double rounds = std::ceil(blocks / static_cast<double>(processors));
    const double unevenness = rounds * static_cast<double>(processors) / blocks;
    add_transfers(cost, machine, time);
    add_arithmetic(cost, machine, unevenness, time);
    double slowest = -1;
    for (const TimeTerm& each : time.terms) {
        time.low = std::max(time.low, each.low);
        time.high = std::max(time.high, each.high);
        const double middle = (each.low + each.high).value / 2;
        if (middle <= slowest) continue;
        slowest = middle;
        time.binds = each.name;
    }
    time.low += machine.launch_latency();
    time.high += machine.launch_latency();
    return time;
}

TimeEstimate time_of(const Cost& cost, const Machine& machine) {
    TimeEstimate total;
    Seconds slowest{-1};
    std::int64_t waves = 0;
    for (const RegionCost& region : cost.regions) {
        const TimeEstimate time = time_of(region, machine);
        total.low += time.low;
        total.high += time.high;
        waves += time.waves;
        if (time.middle() <= slowest) continue;
        slowest = time.middle();
        total.terms = time.terms;
        total.binds = time.binds;
        total.resident = time.resident;
    }
    total.waves = waves;
    return total;
}

std::vector<Excess> excesses_of(const RegionCost& cost, const Machine& machine) {
    std::vector<Excess> excesses;
    for (const auto& [level, held] : cost.levels) {
        const std::optional<Bytes> available = machine.capacity(level);
        const Bytes needed{static_cast<double>(held.allocated.bytes())};
        if (available && needed > *available)
            excesses.push_back({cost.name, level, needed, *available});
    }
    return excesses;
}

std::string describe(const Excess& excess) {
    return "`" + excess.region + "` holds " + text_of(excess.needed) + " at " +
           std::string(name_of(excess.level)) + ", which has " + text_of(excess.available);
}

}  // namespace napkin
