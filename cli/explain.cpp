// explain: why a command does or does not apply, or why a derivation costs what it does.
#include "perfmodel/explain.h"

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/json.h"
#include "cli/picture.h"
#include "cli/session.h"
#include "cli/step_report.h"

namespace napkin::cli {
namespace {

Result<int> explain_command(Context& context, const State& state) {
    const std::uint32_t file = context.sources.add("<command>", context.arguments.topic);
    const Result<Command> command = parse_command(context.sources, file);
    if (!command) return command.error();
    const Outcome outcome = apply(state, *command);
    Json json{{"ok", true}, {"command", print(*command)}};
    std::string text = print(*command) + "\n";
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&outcome)) {
        json["applies"] = false;
        json["reason"] = refusal->reason;
        json["help"] = refusal->help;
        text += "  does not apply: " + refusal->reason + "\n";
        if (!refusal->help.empty()) text += "  " + refusal->help + "\n";
    } else {
        const State& next = std::get<State>(outcome);
        json["applies"] = true;
        json["law"] = next.steps.back().law;
        json["conditions"] = next.steps.back().conditions;
        text += "  applies, by the law: " + next.steps.back().law + "\n";
        for (const std::string& condition : next.steps.back().conditions)
            text += "  checked: " + condition + "\n";
        text += accumulators_text(next);
    }
    print_data(context.arguments.json ? text_of(json) : text);
    return kOk;
}

Result<int> explain_costs(Context& context, const State& state) {
    const Result<Cost> cost = cost_of_state(state);
    if (!cost) return cost.error();
    Json json{{"ok", true}, {"regions", Json::array()}};
    std::string text;
    for (const RegionCost& region : cost->regions) {
        const std::vector<std::string> sentences = explain_transfers(region, state.diagram.axes);
        json["regions"].push_back(Json{{"name", region.name}, {"reasons", sentences}});
        text += region.name + "\n";
        for (const std::string& sentence : sentences) text += "  " + sentence + "\n";
    }
    text += accumulators_text(state);
    print_data(context.arguments.json ? text_of(json) : text);
    return kOk;
}

}  // namespace

Result<int> run_explain(Context& context) {
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    return context.arguments.topic.empty() ? explain_costs(context, loaded->state)
                                           : explain_command(context, loaded->state);
}

}  // namespace napkin::cli
