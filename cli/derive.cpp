// derive: replays a derivation and tells of each step, or opens a prompt.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/interactive.h"
#include "cli/json.h"
#include "cli/picture.h"
#include "cli/reasons.h"
#include "cli/session.h"
#include "cli/step_report.h"
#include "cli/workbench.h"

namespace napkin::cli {
namespace {

Json json_of(const Figures& figures) {
    constexpr double kMicroseconds = 1e6;
    return Json{{"H_bytes", figures.transferred},
                {"M_bytes", figures.memory},
                {"time_us", Json{{"low", figures.time_low * kMicroseconds},
                                 {"high", figures.time_high * kMicroseconds}}}};
}

/// What was done, step after step, as text and as JSON.
struct Log {
    std::string text;
    Json json = Json::array();
};

void add_step(Log& log, std::size_t number, const Step& step, const State& before,
              const State& after, const Cost& cost_before, const Cost& cost_after) {
    Command command = step.command;
    command.comment.clear();
    log.text += std::to_string(number) + ". " + print(command) + "\n  law: " + step.law + "\n";
    log.text += checked_text(step);
    const std::vector<std::string> reasons = reasons_of(before, after, cost_before, cost_after);
    for (const std::string& reason : reasons) log.text += "  " + reason + "\n";
    log.json.push_back(Json{{"command", print(command)},
                            {"law", step.law},
                            {"conditions", step.conditions},
                            {"hazards", step.hazards},
                            {"reasons", reasons}});
}

Result<Log> log_of(const Loaded& loaded, const Machine& machine) {
    Log log;
    Workbench bench(loaded.plain, loaded.state.steps);
    std::optional<Figures> before;
    Cost cost_before;
    CostOfSteps cost_of_step;
    for (std::size_t i = 0; i <= bench.last_step(); ++i) {
        bench.go_to(i);
        const State& state = bench.current();
        Result<Cost> cost = cost_of_step(state);
        if (!cost) return cost.error();
        const Figures now = figures_of(*cost, machine);
        if (i == 0) {
            log.text += "0. the plain diagram\n";
            log.json.push_back(Json{{"command", nullptr}});
        } else {
            add_step(log, i, state.steps.back(), *bench.previous(), state, cost_before, *cost);
        }
        log.json.back()["figures"] = json_of(now);
        log.text += figures_text(before, now);
        if (i == bench.last_step())
            log.text +=
                standing_text(loaded.plain, state, *cost, machine) + accumulators_text(state);
        before = now;
        cost_before = std::move(cost).value();
    }
    return log;
}

}  // namespace

Result<int> run_derive(Context& context) {
    const Arguments& arguments = context.arguments;
    Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    if (arguments.interactive) return run_interactive(context, std::move(loaded).value());
    const Result<Machine> machine = load_machine(
        context.sources, arguments.machine.empty() ? kDefaultMachine : arguments.machine);
    if (!machine) return machine.error();
    const Result<Log> log = log_of(*loaded, *machine);
    if (!log) return log.error();
    if (!arguments.output.empty())
        if (const auto failure =
                write_data(arguments.output, derivation_text(loaded->state, loaded->settings)))
            return *failure;
    if (arguments.json)
        print_data(text_of(Json{{"ok", true}, {"machine", machine->name}, {"steps", log->json}}));
    else if (arguments.output != "-")
        print_data(loaded->plain.name + " on " + machine->name + "\n" + log->text);
    return kOk;
}

}  // namespace napkin::cli
