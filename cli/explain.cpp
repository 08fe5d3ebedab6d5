// explain: why a command does or does not apply, or why a derivation costs what it does.
#include "perfmodel/explain.h"

#include <nlohmann/json.hpp>

#include "cli/balance.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/derivation_steps.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/lines.h"
#include "cli/messages.h"
#include "cli/picture.h"
#include "cli/session.h"
#include "cli/step_report.h"
#include "cli/study_messages.h"
#include "cli/sweep.h"
#include "cli/tile_reasons.h"
#include "derive/messages.h"
#include "diagrams/contains.h"
#include "diagrams/drawing/group_equivalence.h"
#include "diagrams/graphviz/render_canvas.h"

namespace napkin::cli {
namespace {

void print_answer(const Context& context, const Json& json, const std::string& text) {
    if (context.arguments.json)
        print_data(text_of(json));
    else
        print_lines(text);
}

/// The group that a step added, with its region.
std::optional<std::pair<const Region*, AxisId>> added_group(const State& before,
                                                            const State& after) {
    if (before.relabelling.regions.size() != after.relabelling.regions.size()) return std::nullopt;
    for (std::size_t i = 0; i < after.relabelling.regions.size(); ++i)
        for (const Group& group : after.relabelling.regions[i].groups)
            if (!contains(before.relabelling.regions[i].groups, group))
                return std::pair{&before.relabelling.regions[i], group.axis};
    return std::nullopt;
}

Result<int> draw_law(const State& state, const Command& command, const std::string& path) {
    const Result<drawing::Format> format = drawing::format_of(path);
    if (!format) return format.error();
    const Outcome outcome = apply(state, command);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&outcome))
        return messages::step_refused(command.span, print(command), refusal->reason, refusal->help);
    const auto added = added_group(state, std::get<State>(outcome));
    if (!added) return law_without_picture(print(command));
    const Result<std::string> bytes =
        drawing::render_canvas(drawing::draw_group_equivalence(drawing::weaved_algorithm(
                                   state.diagram, *added->first, added->second)),
                               *format);
    if (!bytes) return bytes.error();
    if (const auto failure = write_data(path, *bytes)) return Diagnostics{{*failure}};
    return kOk;
}

Result<int> explain_command(Context& context, const State& state) {
    const Result<Command> command =
        read_command(context.sources, "<command>", context.arguments.topic);
    if (!command) return command.error();
    if (!context.arguments.output.empty())
        return draw_law(state, *command, context.arguments.output);
    const Outcome outcome = apply(state, *command);
    // What is no command has no answer.
    if (const auto* refusal = std::get_if<NotApplicable>(&outcome);
        refusal != nullptr && find_rule(command->rule) == nullptr)
        return messages::step_refused(command->span, print(*command), refusal->reason,
                                      refusal->help);
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
        json["hazards"] = next.steps.back().hazards;
        text += "  applies, by the law: " + next.steps.back().law + "\n";
        text += checked_text(next.steps.back());
        text += accumulators_text(next);
    }
    print_answer(context, json, text);
    return kOk;
}

bool wants_times(const Arguments& arguments) {
    return !arguments.machine.empty() || !arguments.sweep.empty() || !arguments.target.empty() ||
           !arguments.schedule.empty();
}

/// Why the tiles are what they are, where a machine or a sweep is asked for.
Result<int> explain_tiles(Context& context, const Loaded& loaded, Cost cost, Json& json,
                          std::string& text) {
    const Arguments& arguments = context.arguments;
    const Result<Setup> setup = setup_of(context);
    if (!setup) return setup.error();
    const Result<std::vector<Command>> commands = load_commands(context);
    if (!commands) return commands.error();
    drawing::Plot plot;
    if (!arguments.sweep.empty()) {
        const Result<Sweep> swept = sweep(context, loaded, *commands, *setup);
        if (!swept) return swept.error();
        json["sweep"] = to_json(*swept);
        text += text_of(*swept);
        plot = plot_of(*swept);
    } else {
        const Result<TileReasons> reasons = tile_reasons(loaded, *commands, *setup);
        if (!reasons) return reasons.error();
        for (std::size_t i = 0; i < cost.regions.size(); ++i)
            cost.regions[i].work = reasons->now.cost.regions[i].work;
        json["rates"] = balance_json(cost, setup->machine);
        json["tiles"] = to_json(*reasons, *setup);
        text += balance_text(cost, setup->machine) + text_of(*reasons, *setup);
        plot = roofline(reasons->now, setup->machine);
    }
    if (arguments.output.empty()) return kOk;
    const Result<drawing::Format> format = drawing::graphic_format_of(arguments.output);
    if (!format) return format.error();
    const Result<std::string> bytes = drawing::render_canvas(drawing::draw_plot(plot), *format);
    if (!bytes) return bytes.error();
    if (const auto failure = write_data(arguments.output, *bytes)) return Diagnostics{{*failure}};
    return kOk;
}

Result<int> explain_costs(Context& context, const Loaded& loaded) {
    const State& state = loaded.state;
    const Result<Cost> cost = cost_of_state(state);
    if (!cost) return cost.error();
    Json json{{"ok", true}, {"regions", Json::array()}};
    std::string text;
    const std::vector<std::optional<Accumulator>> accumulators = accumulators_of(state);
    for (std::size_t i = 0; i < cost->regions.size(); ++i) {
        const RegionCost& region = cost->regions[i];
        const std::vector<std::string> sentences = explain_transfers(region, state.diagram.axes);
        json["regions"].push_back(
            Json{{"name", region.name},
                 {"reasons", sentences},
                 {"accumulator", accumulators[i] ? accumulator_json(state.diagram, *accumulators[i])
                                                 : Json(nullptr)}});
        text += region.name + "\n";
        for (const std::string& sentence : sentences) text += "  " + sentence + "\n";
        if (accumulators[i]) text += accumulator_text(state.diagram, *accumulators[i]);
    }
    json["parts"] = Json::array();
    for (const SplitAccumulator& part : split_accumulators(loaded.plain, state)) {
        json["parts"].push_back(
            Json{{"command", part.command},
                 {"accumulator", accumulator_json(part.diagram, part.accumulator)}});
        text += "each part, by " + part.command + "\n" +
                accumulator_text(part.diagram, part.accumulator);
    }
    if (wants_times(context.arguments))
        if (const Result<int> done = explain_tiles(context, loaded, *cost, json, text); !done)
            return done;
    if (context.arguments.output != "-") print_answer(context, json, text);
    return kOk;
}

}  // namespace

Result<int> run_explain(Context& context) {
    const Arguments& arguments = context.arguments;
    if (arguments.topic.empty() && !arguments.output.empty() && !wants_times(arguments))
        return law_without_picture("explain");
    if (!arguments.against.empty() && arguments.sweep.empty()) return against_without_sweep();
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    return context.arguments.topic.empty() ? explain_costs(context, *loaded)
                                           : explain_command(context, loaded->state);
}

}  // namespace napkin::cli
