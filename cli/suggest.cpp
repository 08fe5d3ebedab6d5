// suggest: the legal moves from where a derivation stands, ranked by the best that may follow them.
#include "cli/suggest.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/json.h"
#include "cli/lines.h"
#include "cli/machines.h"
#include "cli/numbers.h"
#include "cli/session.h"

namespace napkin::cli {
namespace {

Json json_of(const MoveFigures& figures) {
    return Json{{"H_bytes", figures.transferred},
                {"M_bytes", figures.memory},
                {"time_us", Json{{"low", figures.time_low * kMicroseconds},
                                 {"high", figures.time_high * kMicroseconds}}},
                {"fits", figures.fits}};
}

Json json_of(const Move& move) {
    Json commands = Json::array();
    for (const Command& command : move) commands.push_back(print(command));
    return commands;
}

Json json_of(const Suggestions& suggestions, const Machine& machine) {
    Json json{{"ok", true},
              {"machine", machine.name},
              {"target", suggestions.target},
              {"now", json_of(suggestions.now)}};
    json["legal"] = Json::array();
    for (const Suggestion& each : suggestions.legal)
        json["legal"].push_back(Json{{"commands", json_of(each.move)},
                                     {"figures", json_of(each.figures)},
                                     {"at_best", each.gain}});
    json["refused"] = Json::array();
    for (const Refusal& each : suggestions.refused)
        json["refused"].push_back(Json{{"commands", json_of(each.move)}, {"reason", each.reason}});
    json["unshown"] = suggestions.unshown;
    return json;
}

/// How much faster than now the best is that may follow, where it is.
std::string at_best(const Suggestion& move) {
    constexpr double kNoticed = 1.005;
    if (move.gain < kNoticed) return "";
    return (move.figures.fits ? "" : ", ") + ("at best " + change_text(move.gain, 1));
}

/// What times are of: kernels of a target; where one does not fit, what a good schedule would make.
std::string for_target(const Suggestions& suggestions) {
    return suggestions.target.empty() ? "" : ", kernels for " + suggestions.target;
}

}  // namespace

std::string text_of(const Suggestions& suggestions) {
    constexpr std::size_t kMostPadded = 30;  // longer moves stand out, so that others fit
    std::size_t width = 0;
    for (const Suggestion& move : suggestions.legal)
        width = std::max(width, print(move.move).size());
    for (const Refusal& move : suggestions.refused)
        width = std::max(width, print(move.move).size());
    width = std::min(width, kMostPadded);
    const auto field = [](const std::string& name, double before, double now) {
        return padded(name + " " + change_text(before, now) + " ", 15);
    };
    std::string text;
    for (const Suggestion& move : suggestions.legal) {
        const MoveFigures& figures = move.figures;
        text += "  " + padded(print(move.move), width) + "   " +
                field("H", suggestions.now.transferred, figures.transferred) +
                field("M", suggestions.now.memory, figures.memory) +
                field("time", suggestions.now.time_high, figures.time_high) +
                (figures.fits ? "" : "still too large") + at_best(move);
        while (text.back() == ' ') text.pop_back();
        text += "\n";
    }
    if (suggestions.unshown > 0)
        text += "  and " + std::to_string(suggestions.unshown) + " that save less\n";
    if (suggestions.legal.empty()) text += "  no rule applies here\n";
    for (const Refusal& move : suggestions.refused)
        text += "  " + padded(print(move.move), width) + "   refused: " + move.reason + "\n";
    return text;
}

Result<int> run_suggest(Context& context) {
    const Arguments& arguments = context.arguments;
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    const Result<Machine> machine = take_timed_machine(
        context.sources, arguments.machine.empty() ? kDefaultMachine : arguments.machine);
    if (!machine) return machine.error();
    const Result<Suggestions> suggestions =
        suggest(loaded->state, *machine,
                arguments.top > 0 ? static_cast<std::size_t>(arguments.top) : kMovesShown);
    if (!suggestions) return suggestions.error();
    if (arguments.json)
        print_data(text_of(json_of(*suggestions, *machine)));
    else
        print_lines(loaded->plain.name + " on " + machine->name + for_target(*suggestions) + "\n" +
                    text_of(*suggestions));
    return kOk;
}

}  // namespace napkin::cli
