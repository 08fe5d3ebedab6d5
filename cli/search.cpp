#include "cli/search.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/cost_text.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/lines.h"
#include "cli/machines.h"
#include "cli/measure.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "codegen/takes.h"
#include "derive/tile_program.h"

namespace napkin::cli {
namespace {

constexpr std::size_t kShown = 5;

Json json_of(const Diagram& plain, const Candidate& candidate, const Machine& machine) {
    Json json;
    for (const Command& command : candidate.commands) json["derivation"].push_back(print(command));
    json["cost"] = cost_json({plain, candidate.state, candidate.cost, &machine});
    return json;
}

std::string line_of(std::size_t rank, const Candidate& candidate, std::size_t width_of_binds) {
    const auto total = candidate.cost.transferred.find(Level::Block);
    const double bytes =
        total == candidate.cost.transferred.end() ? 0 : static_cast<double>(total->second.bytes());
    return padded_left(std::to_string(rank), 3) + "  " +
           padded(interval_text(candidate.time.low.value, candidate.time.high.value), 24) +
           padded("H " + bytes_text(bytes), 13) +
           padded(candidate.time.bound_by() + " binds", width_of_binds) +
           commands_text(candidate.commands) + "\n";
}

/// Whether the target that was asked for makes kernels that fit the machine; any where none was.
Serves served_by(const Arguments& arguments, const Machine& machine) {
    if (arguments.only_target.empty()) return {};
    EmitOptions options;
    options.target = arguments.only_target;
    options.architecture = machine.name;
    if (const auto bytes = machine.shared_memory()) options.shared_memory = *bytes;
    return [options](const State& state, const RegionProgram& region) {
        return takes(state, region, options);
    };
}

}  // namespace

std::string commands_text(const std::vector<Command>& commands) {
    std::string text;
    for (const Command& command : commands) text += (text.empty() ? "" : "; ") + print(command);
    return text;
}

Result<SearchResult> search_as_asked(const Arguments& arguments, const Diagram& plain,
                                     const Machine& machine, Told told, const Deadline& deadline) {
    if (!arguments.only_target.empty())
        if (const auto wrong = check_target(arguments.only_target, machine.target)) return *wrong;
    SearchOptions options{kShown, arguments.only_target, served_by(arguments, machine),
                          std::move(told), deadline};
    if (arguments.top > 0) options.top = static_cast<std::size_t>(arguments.top);
    options.top = std::max(options.top, static_cast<std::size_t>(arguments.measure));
    return search(plain, machine, options);
}

Json json_of(const Diagram& plain, const SearchResult& result, const Machine& machine) {
    Json json{{"ok", true},
              {"machine", machine.name},
              {"evaluated", result.evaluated},
              {"too_large", result.too_large},
              {"kernels", result.kernels},
              {"not_served", result.not_served},
              {"regions", result.regions},
              {"searched", result.searched},
              {"stopped", result.stopped},
              {"tiled", result.tiled},
              {"most_boxes", result.most_boxes}};
    json["faults"] = Json::array();
    for (const Fault& fault : result.faults)
        json["faults"].push_back(
            {{"derivation", commands_text(fault.commands)}, {"what", fault.what}});
    json["ranked"] = Json::array();
    for (const Candidate& candidate : result.ranked)
        json["ranked"].push_back(json_of(plain, candidate, machine));
    return json;
}

namespace {

struct Search {
    Result<SearchResult> result;
    bool interrupted = false;
};

/// Ends with what it has where `--seconds` are over, or at Ctrl-C.
Search search_watched(const Arguments& arguments, const Diagram& plain, const Machine& machine) {
    const Deadline limit = arguments.seconds > 0 ? Deadline::in(arguments.seconds) : Deadline();
    const Deadline deadline([&limit] { return Interrupt::noted() || limit.is_past(); });
    const Interrupt interrupt;
    Progress progress(Progress::Shown::EverySecond);
    const auto told = [&](std::size_t done, std::size_t all) {
        progress.tell(done, all, "regions tiled");
    };
    Result<SearchResult> result = search_as_asked(arguments, plain, machine, told, deadline);
    return {std::move(result), Interrupt::noted()};
}

/// How far the search went.
std::string extent_text(const SearchResult& result, const Arguments& arguments, bool interrupted) {
    std::string text;
    if (result.not_served > 0)
        text += "  " + arguments.only_target + " makes no kernels of " +
                grouped(result.not_served) + " of them\n";
    if (!result.faults.empty())
        text += "  the scheduler got " + grouped(static_cast<std::int64_t>(result.faults.size())) +
                " of them wrong, which is a bug, and they are left out: `" +
                commands_text(result.faults.front().commands) + "` shows it, " +
                result.faults.front().what + "\n";
    if (result.searched == result.regions && result.tiled < result.regions)
        text += "  " + std::to_string(result.regions - result.tiled) + " of " +
                std::to_string(result.regions) +
                " regions are in no faster partition, whatever their tilings\n";
    const std::string why = interrupted ? "it was interrupted" : "`--seconds` was over";
    if (result.searched < result.regions)
        text += "  not searched: " + std::to_string(result.regions - result.searched) + " of " +
                std::to_string(result.regions) + " regions; " + why + "\n";
    else if (result.stopped)
        text += "  stopped before its end: " + why + "\n";
    if (result.most_boxes > 0)
        text += "  too wide for more: regions of at most " + std::to_string(result.most_boxes) +
                " statements were looked at, and the whole\n";
    return text;
}

std::string ranking_text(const SearchResult& result) {
    std::size_t width_of_binds = 0;
    for (const Candidate& candidate : result.ranked)
        width_of_binds = std::max(width_of_binds, candidate.time.bound_by().size() + 8);
    std::string text;
    for (std::size_t i = 0; i < result.ranked.size(); ++i)
        text += line_of(i + 1, result.ranked[i], width_of_binds);
    return text;
}

}  // namespace

Result<int> run_search(Context& context) {
    const Arguments& arguments = context.arguments;
    const Result<Machine> machine = take_timed_machine(context.sources, arguments.machine);
    if (!machine) return machine.error();
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    const auto [result, interrupted] = search_watched(arguments, loaded->plain, *machine);
    if (!result) return result.error();
    if (arguments.measure > 0 && !interrupted)
        return measure_found(context, *loaded, *machine, *result);
    if (!arguments.output.empty() && !result->ranked.empty())
        if (const auto failure = write_data(
                arguments.output, print(result->ranked.front(), *machine, arguments.only_target)))
            return *failure;
    if (arguments.json)
        print_data(text_of(json_of(loaded->plain, *result, *machine)));
    else if (arguments.output != "-")
        print_lines(loaded->plain.name + " on " + machine->name + ": " +
                    grouped(result->evaluated) + " tilings costed, " + grouped(result->too_large) +
                    " too large, " + grouped(result->kernels) + " scheduled as kernels\n" +
                    extent_text(*result, arguments, interrupted) + ranking_text(*result));
    return interrupted ? kInterrupted : kOk;
}

}  // namespace napkin::cli
