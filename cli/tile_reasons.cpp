#include "cli/tile_reasons.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/cost_text.h"
#include "cli/machines.h"
#include "cli/numbers.h"
#include "cli/study_messages.h"
#include "codegen/emit.h"

namespace napkin::cli {
namespace {

constexpr double kMoreShared = 8192;
constexpr std::int64_t kMoreRegisters = 16;
constexpr std::size_t kBinds = 46;  // columns

/// The region that takes longest.
const RegionCost& slowest(const Prediction& prediction, const Machine& machine) {
    const std::vector<RegionCost>& regions = prediction.cost.regions;
    return *std::max_element(regions.begin(), regions.end(),
                             [&](const RegionCost& a, const RegionCost& b) {
                                 return time_of(a, machine).middle() < time_of(b, machine).middle();
                             });
}

/// `warp groups`, `tensor core`, `plain`, or `unknown` where a block fits nowhere.
const char* made_by(const RegionCost& region) {
    if (!region.work) return "unknown";
    if (region.work->groups > 0) return "warp groups";
    return region.work->tensor_core ? "single warps" : "plain threads";
}

/// What of the processor the slowest kernel takes.
std::string room_text(const Prediction& prediction, const Machine& machine) {
    const RegionCost& region = slowest(prediction, machine);
    if (!region.work) return "";
    return bytes_text(region.work->shared_bytes) + " shared, " +
           std::to_string(region.work->warps) + (region.work->warps == 1 ? " warp, " : " warps, ") +
           std::to_string(prediction.time.resident) + " a processor, by " + made_by(region);
}

std::string binds_text(const TimeEstimate& time) {
    const std::string& next = time.bound_next();
    return time.bound_by() + " binds" + (next.empty() ? "" : ", then " + next);
}

std::string row(const std::string& name, const std::string& time, const std::string& rest,
                std::size_t width) {
    std::string line = "  " + padded(name, width) + "  " + padded_left(time, 8) + "  " + rest;
    while (line.back() == ' ') line.pop_back();
    return line + "\n";
}

std::string line_of(const Alternative& each, const TileReasons& reasons, const Machine& machine,
                    std::size_t width) {
    if (!each.prediction) return row(each.change, "", "refused: " + each.refusal, width);
    const Prediction& prediction = *each.prediction;
    if (!prediction.fits()) return row(each.change, "", prediction.why_not(), width);
    return row(
        each.change, time_text(prediction.time.middle().value),
        padded(change_text(reasons.now.time.middle().value, prediction.time.middle().value), 9) +
            padded(binds_text(prediction.time), kBinds) + room_text(prediction, machine),
        width);
}

Json time_and_binds(const TimeEstimate& time) {
    Json json{{"time_us", time_json(time)}, {"binds", time.bound_by()}};
    if (!time.bound_next().empty()) json["second"] = time.bound_next();
    return json;
}

Json json_of(const Prediction& prediction, const Machine& machine) {
    Json json = time_and_binds(prediction.time);
    json["fits"] = prediction.fits();
    if (!prediction.fits()) json["why_not"] = prediction.why_not();
    const RegionCost& region = slowest(prediction, machine);
    json["region"] = region.name;
    json["by"] = made_by(region);
    if (region.work) {
        json["shared_bytes"] = region.work->shared_bytes;
        json["warps"] = region.work->warps;
    }
    json["blocks_a_processor"] = prediction.time.resident;
    return json;
}

Json json_of(const std::vector<Alternative>& all, const Machine& machine) {
    Json list = Json::array();
    for (const Alternative& each : all) {
        Json json{{"change", each.change}};
        if (each.prediction)
            json.update(json_of(*each.prediction, machine));
        else
            json["refused"] = each.refusal;
        list.push_back(std::move(json));
    }
    return list;
}

/// The fastest that fits of a derivation and its neighbours.
struct Best {
    const Alternative* neighbour = nullptr;  ///< none where it is the derivation itself
    std::optional<TimeEstimate> time;
    void consider(const Alternative* other, const Prediction& prediction) {
        if (prediction.fits() && (!time || is_faster(prediction.time.middle(), time->middle())))
            *this = {other, prediction.time};
    }
};

/// With what else that room lets in, newer targets' kernels too.
Best with_more_memory(const State& state, const TileReasons& reasons, const Setup& larger) {
    Best best;
    const auto again = [&](const State& each, const Alternative* neighbour) {
        const auto found = predict(each, larger);
        if (const Prediction* prediction = std::get_if<Prediction>(&found))
            best.consider(neighbour, *prediction);
    };
    again(state, nullptr);
    for (const Alternative& neighbour : reasons.neighbours)
        if (neighbour.state) again(*neighbour.state, &neighbour);
    return best;
}

}  // namespace

Result<Setup> setup_of(const Context& context) {
    const Arguments& arguments = context.arguments;
    Result<Machine> machine = take_timed_machine(
        context.sources, arguments.machine.empty() ? kDefaultMachine : arguments.machine);
    if (!machine) return machine.error();
    if (!arguments.target.empty())
        if (const auto wrong = check_target(arguments.target, machine->target)) return *wrong;
    Setup setup{std::move(machine).value(), arguments.target, {}};
    if (arguments.schedule.empty()) return setup;
    const Result<std::uint32_t> file = load_text(context.sources, arguments.schedule);
    if (!file) return file.error();
    Result<std::vector<schedule::Request>> schedules =
        schedule::read_schedule(context.sources, *file);
    if (!schedules) return schedules.error();
    setup.schedules = std::move(schedules).value();
    return setup;
}

Result<Prediction> predict_or_say(const State& state, const Setup& setup) {
    auto found = predict(state, setup);
    if (const NotApplicable* why = std::get_if<NotApplicable>(&found)) return no_prediction(*why);
    return std::get<Prediction>(std::move(found));
}

Result<TileReasons> tile_reasons(const Loaded& loaded, const std::vector<Command>& commands,
                                 const Setup& setup) {
    Result<Prediction> now = predict_or_say(loaded.state, setup);
    if (!now) return now.error();
    TileReasons reasons{std::move(now).value(),
                        neighbours_of(loaded.plain, commands, setup),
                        {},
                        further_moves(loaded.state, setup)};
    Best here;
    Best with_registers_more;
    const auto consider = [&](const Alternative* neighbour, const Prediction& prediction) {
        here.consider(neighbour, prediction);
        with_registers_more.consider(neighbour, with_registers(prediction, setup, kMoreRegisters));
    };
    consider(nullptr, reasons.now);
    for (const Alternative& neighbour : reasons.neighbours)
        if (neighbour.prediction) consider(&neighbour, *neighbour.prediction);
    const Best with_memory_more =
        with_more_memory(loaded.state, reasons, with_shared_memory(setup, kMoreShared));
    for (const auto& [what, there] : {std::pair{"8 KiB more shared memory", with_memory_more},
                                      std::pair{"16 more registers a thread", with_registers_more}})
        if (there.time)
            reasons.extras.push_back(
                {what, there.neighbour ? there.neighbour->change : "", *there.time,
                 !here.time || is_faster(there.time->middle(), here.time->middle())});
    return reasons;
}

std::string text_of(const TileReasons& reasons, const Setup& setup) {
    std::size_t width = 0;
    for (const auto* all : {&reasons.neighbours, &reasons.further})
        for (const Alternative& each : *all) width = std::max(width, each.change.size());
    for (const Extra& extra : reasons.extras) width = std::max(width, extra.what.size());
    const Prediction& now = reasons.now;
    std::string text = "why these tiles, on " + setup.machine.name + "\n";
    text +=
        row("now", time_text(now.time.middle().value),
            padded("", 9) + padded(binds_text(now.time), kBinds) + room_text(now, setup.machine),
            width);
    if (!now.fits()) text += "  " + now.why_not() + "\n";
    for (const Alternative& each : reasons.neighbours)
        text += line_of(each, reasons, setup.machine, width);
    for (const Extra& extra : reasons.extras)
        text += extra.helps
                    ? row(extra.what, time_text(extra.time.middle().value),
                          change_text(now.time.middle().value, extra.time.middle().value) +
                              (extra.change.empty() ? "" : ", with " + extra.change),
                          width)
                    : row(extra.what, "", "buys nothing, neither here nor at these sizes", width);
    for (const Alternative& each : reasons.further)
        text += line_of(each, reasons, setup.machine, width);
    return text;
}

Json to_json(const TileReasons& reasons, const Setup& setup) {
    Json json{{"machine", setup.machine.name}, {"now", json_of(reasons.now, setup.machine)}};
    json["neighbours"] = json_of(reasons.neighbours, setup.machine);
    json["more"] = Json::array();
    for (const Extra& extra : reasons.extras) {
        Json each{{"what", extra.what}, {"helps", extra.helps}};
        if (extra.helps && !extra.change.empty()) each["with"] = extra.change;
        if (extra.helps) each["time_us"] = time_json(extra.time);
        json["more"].push_back(std::move(each));
    }
    json["further"] = json_of(reasons.further, setup.machine);
    return json;
}

}  // namespace napkin::cli
