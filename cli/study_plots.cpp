// Sweeps and roofs as plots.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "cli/numbers.h"
#include "cli/sweep.h"

namespace napkin::cli {
namespace {

using drawing::Dash;

/// Styles that a copier keeps apart, the plainest first.
struct Style {
    Dash dash = Dash::Solid;
    double width = 1;
};
constexpr std::array kStyles = {Style{Dash::Solid, 2},    Style{Dash::Dashed, 1.2},
                                Style{Dash::Dotted, 1.2}, Style{Dash::Solid, 0.7},
                                Style{Dash::Dashed, 2},   Style{Dash::Dotted, 2}};

drawing::Curve curve(std::string name, std::size_t at) {
    const Style& style = kStyles.at(at % kStyles.size());
    return {std::move(name), {}, style.dash, style.width};
}

std::string rate_text(double value) {
    constexpr std::array kPrefixes = {"", "k", "M", "G", "T", "P"};
    std::size_t prefix = 0;
    for (; value >= 1000 && prefix + 1 < kPrefixes.size(); ++prefix) value /= 1000;
    return three_digits(value) + " " + kPrefixes.at(prefix) + "op/s";
}

}  // namespace

drawing::Plot plot_of(const Sweep& sweep) {
    const SweepRange& range = sweep.range;
    drawing::Plot plot;
    plot.title = "over " + range.of + ", on " + sweep.machine;
    plot.x = {range.of, [range](double value) { return range.text(value); }};
    plot.y = {"time", [](double value) { return time_text(value); }};
    plot.curves.push_back(curve(sweep.names.front(), 0));
    std::map<std::string, drawing::Curve> pipelines;
    std::map<std::size_t, drawing::Curve> rivals;
    for (const SweepPoint& point : sweep.points)
        if (point.best && *point.best != 0) rivals.try_emplace(*point.best);
    for (const SweepPoint& point : sweep.points) {
        for (auto& [rival, curve] : rivals)
            if (const auto& time = point.times[rival])
                curve.points.push_back({point.value, time->middle().value});
        const auto& time = point.times.front();
        if (!time) continue;
        plot.curves.front().points.push_back({point.value, time->middle().value});
        for (const TimeTerm& term : time->terms)
            if (term.low.value > 0)
                pipelines[term.name].points.push_back({point.value, term.low.value});
    }
    std::size_t style = 1;
    const auto take = [&](const std::string& name, drawing::Curve& from) {
        drawing::Curve styled = curve(name, style++);
        styled.points = std::move(from.points);
        plot.curves.push_back(std::move(styled));
    };
    for (auto& [rival, points] : rivals) take(sweep.names[rival], points);
    // What never comes near the time says nothing here.
    for (auto& [name, points] : pipelines) {
        const bool is_near =
            std::any_of(sweep.points.begin(), sweep.points.end(), [&](const SweepPoint& point) {
                const auto& time = point.times.front();
                return time && (time->busiest == name || time->second == name);
            });
        if (is_near) take(name + " alone", points);
    }
    for (const Crossover& crossover : sweep.crossovers)
        plot.marks.push_back({range.text(crossover.above) + ": " + crossover.after +
                                  (crossover.of_best ? "" : " binds"),
                              crossover.above, 0});
    return plot;
}

drawing::Plot roofline(const Prediction& prediction, const Machine& machine) {
    drawing::Plot plot;
    plot.title = "under the roofs of " + machine.name;
    plot.x = {"operations a byte", value_text};
    plot.y = {"operations a second", rate_text};
    double least = 1;
    double most = 1000;
    std::map<std::string, double> peaks;
    for (const RegionCost& region : prediction.cost.regions) {
        const auto operations = static_cast<double>(region.arithmetic.useful());
        const double seconds = time_of(region, machine).middle().value;
        const double once = static_cast<double>(region.compulsory_bits) / 8;
        const auto moved = static_cast<double>(region.levels.at(Level::Block).transferred.bytes());
        if (operations <= 0) continue;
        std::map<std::string, double> deliveries = {{"device memory", moved}};
        if (machine.has(Level::Cache)) deliveries = {{"device memory", once}, {"cache", moved}};
        for (const auto& [from, bytes] : deliveries) {
            plot.marks.push_back({region.name + ", by what " + from + " delivers",
                                  operations / bytes, operations / seconds});
            least = std::min(least, operations / bytes / 2);
            most = std::max(most, operations / bytes * 2);
        }
        for (const auto& [type, count] : region.arithmetic.products)
            if (const auto rate = machine.tensor_core(type))
                peaks["tensor core " + std::string(name_of(type))] = rate->value;
    }
    if (const auto rate = machine.arithmetic()) peaks["arithmetic"] = rate->value;
    double highest = 0;
    std::size_t style = 0;
    for (const auto& [name, peak] : peaks) highest = std::max(highest, peak);
    // Without units that compute, only what memory delivers bounds anything.
    if (peaks.empty())
        for (const Level level : {Level::Device, Level::Cache})
            if (const auto rate = machine.bandwidth(level))
                highest = std::max(highest, most * rate->value);
    for (const Level level : {Level::Device, Level::Cache})
        if (const auto rate = machine.bandwidth(level)) {
            drawing::Curve slope =
                curve(level == Level::Device ? "device memory" : "cache", style++);
            slope.points = {{least, least * rate->value}, {highest / rate->value, highest}};
            plot.curves.push_back(std::move(slope));
        }
    for (const auto& [name, peak] : peaks) {
        drawing::Curve flat = curve(name, style++);
        flat.points = {{least, peak}, {most, peak}};
        plot.curves.push_back(std::move(flat));
    }
    return plot;
}

}  // namespace napkin::cli
