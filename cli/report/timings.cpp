#include "cli/report/timings.h"
#include "cli/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace napkin::cli {
namespace {

/// So many digits are written: a page holds thousands of these.
double microseconds(Seconds time, int digits) {
    return std::stod(fmt::format("{:.{}g}", time.value * kMicroseconds, digits));
}

constexpr int kOfTimes = 11;
constexpr int kOfBars = 4;
constexpr int kWaiting = -1;  ///< the number of no unit

/// Nulls where there is no time.
Json interval_json(const TimeEstimate& time) {
    if (!time.is_known()) return Json::array({nullptr, nullptr});
    return Json::array({microseconds(time.low, kOfTimes), microseconds(time.high, kOfTimes)});
}

}  // namespace

Json Timings::operator()(const RegionCost& region, const Machine& machine) {
    const TimeEstimate time = time_of(region, machine);
    Json json = interval_json(time);
    std::vector<double> alone(units_.size());
    std::size_t busiest = 0;
    for (const TimeTerm& term : time.terms) {
        const auto unit = static_cast<std::size_t>(
            std::find(units_.begin(), units_.end(), term.name) - units_.begin());
        if (unit == units_.size()) {
            units_.push_back(term.name);
            alone.push_back(0);
        }
        alone[unit] = microseconds(term.high, kOfBars);
        if (term.name == time.busiest) busiest = unit;
    }
    json.push_back(time.is_waiting() ? Json(kWaiting) : Json(busiest));
    json.push_back(alone);
    Json levels = Json::array();
    for (const Excess& excess : excesses_of(region, machine))
        levels.push_back(name_of(excess.level));
    if (!levels.empty()) json.push_back(std::move(levels));
    return json;
}

Json Timings::interval(const RegionCost& region, const Machine& machine) {
    const TimeEstimate time = time_of(region, machine);
    Json json = interval_json(time);
    if (time.is_waiting()) json.push_back(kWaiting);
    return json;
}

double launch_us(const Machine& machine) {
    const Seconds start{machine.figure("latency.start").value_or(0)};
    return microseconds(machine.launch_latency() + start, kOfTimes);
}

}  // namespace napkin::cli
