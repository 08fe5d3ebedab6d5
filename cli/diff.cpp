// diff: two derivations of one diagram side by side: which steps differ, and what that is worth.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/cost_text.h"
#include "cli/machines.h"
#include "cli/picture.h"
#include "cli/session.h"
#include "cli/step_report.h"
#include "cli/workbench.h"

namespace napkin::cli {
namespace {

/// A derivation with its figures.
struct Side {
    std::vector<std::string> steps;
    Loaded loaded;
    Cost cost;
    Figures figures;
};

Result<Side> side_of(const Context& context, const std::string& path, const Machine& machine) {
    Arguments arguments = context.arguments;
    arguments.derivation = path;
    Context own{arguments, context.sources};
    Result<Loaded> loaded = load_state(own);
    if (!loaded) return loaded.error();
    Result<Cost> cost = cost_of_state(loaded->state, &machine);
    if (!cost) return cost.error();
    Side side{{}, std::move(loaded).value(), std::move(cost).value(), {}};
    for (const Command& command : commands_of(side.loaded.state))
        side.steps.push_back(typed_text(command));
    side.figures = figures_of(side.cost, machine);
    return side;
}

/// A step of one side (`-`, `+`) or of both (a blank).
struct Line {
    char side = ' ';
    std::string step;
};

/// The steps of both in order, as few as possible of one side alone.
std::vector<Line> lines_of(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    // Entry (i, j): how many steps a from i and b from j have in common.
    std::vector<std::vector<std::size_t>> common(a.size() + 1,
                                                 std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = a.size(); i-- > 0;)
        for (std::size_t j = b.size(); j-- > 0;)
            common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1
                                        : std::max(common[i + 1][j], common[i][j + 1]);
    std::vector<Line> lines;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() || j < b.size()) {
        if (i < a.size() && j < b.size() && a[i] == b[j]) {
            lines.push_back({' ', a[i++]});
            ++j;
        } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
            lines.push_back({'-', a[i++]});
        } else {
            lines.push_back({'+', b[j++]});
        }
    }
    return lines;
}

std::string sizes_text(const Side& a, const Side& b) {
    std::string text;
    for (const Axis& axis : a.loaded.plain.axes)
        if (const auto other = find_axis(b.loaded.plain, axis.name);
            other && b.loaded.plain[*other].extent != axis.extent)
            text += "  " + axis.name + " is " + std::to_string(axis.extent) + " in the first and " +
                    std::to_string(b.loaded.plain[*other].extent) + " in the second\n";
    return text;
}

Json json_of(const Side& side, const Machine& machine) {
    return Json{{"steps", side.steps},
                {"cost", cost_json({side.loaded.plain, side.loaded.state, side.cost, &machine})}};
}

}  // namespace

Result<int> run_diff(Context& context) {
    const Arguments& arguments = context.arguments;
    const Result<Machine> machine = take_timed_machine(
        context.sources, arguments.machine.empty() ? kDefaultMachine : arguments.machine);
    if (!machine) return machine.error();
    const Result<Side> a = side_of(context, arguments.several.at(0), *machine);
    if (!a) return a.error();
    const Result<Side> b = side_of(context, arguments.several.at(1), *machine);
    if (!b) return b.error();
    const std::vector<Line> lines = lines_of(a->steps, b->steps);
    if (arguments.json) {
        Json json{{"ok", true}, {"machine", machine->name}, {"differences", Json::array()}};
        for (const Line& line : lines)
            if (line.side != ' ')
                json["differences"].push_back(
                    Json{{"of", line.side == '-' ? "first" : "second"}, {"step", line.step}});
        json["first"] = json_of(*a, *machine);
        json["second"] = json_of(*b, *machine);
        print_data(text_of(json));
        return kOk;
    }
    std::string text = a->loaded.plain.name + " on " + machine->name + "\n" + sizes_text(*a, *b);
    for (const Line& line : lines) text += std::string(1, line.side) + " " + line.step + "\n";
    print_data(text + figures_text(a->figures, b->figures) +
               standing_text(b->loaded.plain, b->loaded.state, b->cost, *machine));
    return kOk;
}

}  // namespace napkin::cli
