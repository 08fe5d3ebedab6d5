#include "cli/balance.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/numbers.h"
#include "perfmodel/pipelines.h"
#include "perfmodel/time.h"

namespace napkin::cli {
namespace {

/// Chunks of all blocks together; a block without a loop is one.
double chunks_in(const RegionCost& cost) {
    auto chunks = static_cast<double>(std::max<std::int64_t>(cost.blocks, 1));
    for (const SizeInUse& stream : cost.streams)
        if (stream.level == Level::Block) chunks *= static_cast<double>(stream.count);
    return chunks;
}

std::string amount_of(const std::string& unit, double work) {
    return unit == "B" ? text_of(Bytes{work}) : text_of(Operations{work});
}

std::string clocks_text(double clocks) {
    constexpr double kWhole = 100;  // from here on parts of a clock say nothing
    if (clocks <= 0) return "-";
    return clocks < kWhole ? three_digits(clocks) : grouped(std::llround(clocks));
}

}  // namespace

std::vector<Balance> balance_of(const RegionCost& cost, const Machine& machine) {
    std::vector<Balance> all;
    const double share = static_cast<double>(machine.processors()) / chunks_in(cost);
    const double clock = machine.figure("processor.clock").value_or(0);
    const auto add = [&](const std::string& name, double work, double rate,
                         const std::string& unit) {
        const double total = work / rate;
        all.push_back({name, total, total * share, total * share * clock, amount_of(unit, work)});
    };
    for (const Pipeline& each : pipelines_of(cost, machine)) {
        const bool twice = each.least < each.most;
        add(each.name + (twice ? ", arrays once" : ""), each.least, each.rate, each.unit);
        if (twice) add(each.name + ", all loads", each.most, each.rate, each.unit);
    }
    if (const auto rate = machine.bandwidth(Level::Block); rate && cost.work) {
        const double bytes = shared_traffic(all_of(*cost.work)).value;
        if (bytes > 0) add("shared memory, operands", bytes, rate->value, "B");
    }
    return all;
}

std::string balance_text(const Cost& cost, const Machine& machine) {
    std::string text = "at the full rates of " + machine.name +
                       "'s file, nothing lost (`cost` has what kernels reach)\n";
    for (const RegionCost& region : cost.regions) {
        text += "  " + padded(region.name, 28) + padded_left("in all", 9) +
                padded_left("a chunk", 11) + padded_left("clocks", 11) + "\n";
        for (const Balance& each : balance_of(region, machine))
            text += "    " + padded(each.unit, 26) + padded_left(time_text(each.total), 9) +
                    padded_left(time_text(each.chunk), 11) +
                    padded_left(clocks_text(each.clocks), 11) + "  " + each.amount + "\n";
    }
    return text;
}

Json balance_json(const Cost& cost, const Machine& machine) {
    Json json = Json::array();
    for (const RegionCost& region : cost.regions)
        for (const Balance& each : balance_of(region, machine))
            json.push_back(Json{{"region", region.name},
                                {"unit", each.unit},
                                {"us", each.total * kMicroseconds},
                                {"chunk_us", each.chunk * kMicroseconds},
                                {"chunk_clocks", each.clocks}});
    return json;
}

}  // namespace napkin::cli
