// trace: a region's loop in time, as a trace for Perfetto and Chrome or as a picture.
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/messages.h"
#include "cli/numbers.h"
#include "cli/session.h"
#include "cli/study_messages.h"
#include "cli/tile_reasons.h"
#include "derive/tile_program.h"
#include "diagrams/drawing/bar_rows.h"
#include "diagrams/graphviz/render_canvas.h"
#include "perfmodel/kernel_choice.h"
#include "schedule/schedule.h"
#include "schedule/timeline.h"

namespace napkin::cli {
namespace {

constexpr int kChunks = 4;
constexpr double kAnyClock = 1e9;  // where the machine has none

/// The region that `--region` names; the only one where it names none.
Result<RegionProgram> traced_region(const Arguments& arguments, const State& state) {
    const auto found = find_region(state, arguments.region);
    if (const NotApplicable* why = std::get_if<NotApplicable>(&found))
        return no_timeline({why->reason, "`--region` names one by an array that it saves"});
    return expand(state, state.relabelling.regions[std::get<std::size_t>(found)]);
}

Result<std::vector<schedule::Timeline>> timelines(const Arguments& arguments, const State& state,
                                                  const Setup& setup) {
    const Result<RegionProgram> region = traced_region(arguments, state);
    if (!region) return region.error();
    const auto wanted =
        WantedKernels::of(state, kernels_for(setup.machine, setup.target), setup.schedules);
    if (!wanted) return wanted.error();
    KernelRequest request = (*wanted)(region->name);
    if (request.target == "simt")
        return no_timeline({"plain kernels have no schedule", "`--target sm_80` has one"});
    Result<RegionCost> cost = quick_cost_of(*region);
    if (!cost) return cost.error();
    if (request.best) add_work(*region, request, *cost);
    request.limits.warp_groups =
        (request.best && cost->work ? cost->work->target : request.target) == "sm_90a";
    const RegionProgram simpler = schedule::simplified(*region);
    const auto made = schedule::schedule(simpler, request.schedule, request.limits);
    if (const schedule::Refusal* refusal = std::get_if<schedule::Refusal>(&made))
        return no_timeline({refusal->reason, refusal->help});
    const int chunks = arguments.top > 0 ? arguments.top : kChunks;
    std::vector<schedule::Timeline> found =
        schedule::timelines_of(std::get<schedule::Scheduled>(made).program(), chunks);
    if (found.empty())
        return no_timeline({"the kernel of `" + region->name + "` has no loop over chunks",
                            "`stream` an axis of it"});
    return found;
}

/// A row for every unit that an agent uses.
struct Lane {
    std::size_t agent = 0;
    schedule::Unit unit = schedule::Unit::Issue;
    auto operator<=>(const Lane&) const = default;
};
std::vector<Lane> lanes_of(const schedule::Timeline& timeline) {
    std::vector<Lane> lanes;
    for (const schedule::Bar& bar : timeline.bars) lanes.push_back({bar.agent, bar.unit});
    std::sort(lanes.begin(), lanes.end());
    lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
    return lanes;
}

std::string title_of(const schedule::Timeline& timeline, const State& state) {
    return timeline.region + ": chunks of " + std::to_string(timeline.size) + " of " +
           state.diagram[timeline.axis].name + ", one in " +
           grouped(std::llround(timeline.interval)) + " clocks";
}

drawing::BarRows chart_of(const schedule::Timeline& timeline, const State& state) {
    drawing::BarRows chart;
    chart.title = title_of(timeline, state);
    chart.unit = "clocks; white and grey are chunks in turn";
    const std::vector<Lane> lanes = lanes_of(timeline);
    for (const Lane& lane : lanes) {
        chart.groups.push_back(timeline.agents[lane.agent]);
        chart.rows.emplace_back(name_of(lane.unit));
    }
    for (const schedule::Bar& bar : timeline.bars) {
        const auto row = std::lower_bound(lanes.begin(), lanes.end(), Lane{bar.agent, bar.unit});
        chart.bars.push_back({static_cast<std::size_t>(row - lanes.begin()), bar.begin, bar.end,
                              bar.what, bar.text + ", chunk " + std::to_string(bar.chunk),
                              bar.chunk});
    }
    return chart;
}

drawing::Canvas picture(const std::vector<schedule::Timeline>& timelines, const State& state) {
    drawing::Canvas canvas;
    double bottom = 0;
    for (const schedule::Timeline& timeline : timelines) {
        const drawing::Canvas each = drawing::draw_bar_rows(chart_of(timeline, state));
        if (canvas.title.empty()) canvas.title = each.title;
        drawing::add(canvas, each, 0, bottom);
        bottom += each.height;
    }
    drawing::fit(canvas, drawing::kMargin);
    return canvas;
}

/// The format of Chrome's tracing, which Perfetto reads: a process an agent, a thread a unit.
Json events_of(const std::vector<schedule::Timeline>& timelines, const State& state,
               double microseconds) {
    Json events = Json::array();
    const auto told = [&](const char* what, std::size_t process, std::size_t thread,
                          const std::string& name) {
        events.push_back(Json{{"name", what},
                              {"ph", "M"},
                              {"pid", process},
                              {"tid", thread},
                              {"args", Json{{"name", name}}}});
    };
    std::size_t first = 0;
    for (const schedule::Timeline& timeline : timelines) {
        for (std::size_t agent = 0; agent < timeline.agents.size(); ++agent)
            told("process_name", first + agent, 0,
                 timelines.size() > 1 ? title_of(timeline, state) + ", " + timeline.agents[agent]
                                      : timeline.agents[agent]);
        for (const Lane& lane : lanes_of(timeline))
            told("thread_name", first + lane.agent, static_cast<std::size_t>(lane.unit),
                 name_of(lane.unit));
        for (const schedule::Bar& bar : timeline.bars)
            events.push_back(
                Json{{"name", bar.text},
                     {"ph", "X"},
                     {"ts", bar.begin * microseconds},
                     {"dur", (bar.end - bar.begin) * microseconds},
                     {"pid", first + bar.agent},
                     {"tid", static_cast<std::size_t>(bar.unit)},
                     {"args", Json{{"chunk", bar.chunk}, {"clocks", bar.end - bar.begin}}}});
        first += timeline.agents.size();
    }
    return Json{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
}

/// A figure that is overridden and of which no timeline depends.
std::optional<Diagnostic> refuse_unread(Context& context, const Machine& machine) {
    const std::string& named = context.arguments.machine;
    const std::size_t comma = named.find(',');
    if (comma == std::string::npos) return std::nullopt;
    const Result<Machine> base = load_machine(context.sources, named.substr(0, comma));
    if (!base) return std::nullopt;
    constexpr std::array kRead = {"block.capacity", "processor.clock", "processor.sustained"};
    for (const auto& [key, figure] : machine.figures) {
        const auto found = base->figures.find(key);
        const bool changed = found == base->figures.end() || !(found->second == figure);
        if (changed && std::find(kRead.begin(), kRead.end(), key) == kRead.end())
            return unused_option("--machine", "changes `" + key + "`, which no timeline reads",
                                 "it reads `block.capacity` and the clocks of the processor; "
                                 "`cost --machine` reads every figure");
    }
    return std::nullopt;
}

}  // namespace

Result<int> run_trace(Context& context) {
    const Arguments& arguments = context.arguments;
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    const Result<Setup> setup = setup_of(context);
    if (!setup) return setup.error();
    if (const auto unread = refuse_unread(context, setup->machine)) return *unread;
    const auto found = timelines(arguments, loaded->state, *setup);
    if (!found) return found.error();
    std::string bytes;
    if (arguments.output.empty() || arguments.output == "-" ||
        arguments.output.ends_with(".json")) {
        const double clock =
            setup->machine.figure("processor.sustained")
                .value_or(setup->machine.figure("processor.clock").value_or(kAnyClock));
        bytes = text_of(events_of(*found, loaded->state, 1e6 / clock));
    } else {
        const Result<drawing::Format> format = drawing::graphic_format_of(arguments.output);
        if (!format) return format.error();
        Result<std::string> drawn = drawing::render_canvas(picture(*found, loaded->state), *format);
        if (!drawn) return drawn.error();
        bytes = std::move(drawn).value();
    }
    if (const auto failure = write_data(arguments.output, bytes)) return *failure;
    return kOk;
}

}  // namespace napkin::cli
