#include "cli/workbench.h"

#include <algorithm>

namespace napkin::cli {
namespace {

/// Why a choice of the derivation would be for no region any more.
std::optional<NotApplicable> loses_a_choice(const State& next) {
    for (const Step& step : next.steps) {
        if (step.command.rule != "schedule") continue;
        const auto region = find_region(next, step.command.in);
        if (const NotApplicable* why = std::get_if<NotApplicable>(&region))
            return NotApplicable{
                "`" + typed_text(step.command) + "` would be for no region: " + why->reason,
                "take it back with `undo`, and give it after this step"};
    }
    return std::nullopt;
}

}  // namespace

Workbench::Workbench(const Diagram& plain, const std::vector<Step>& steps, Settings settings)
    : moments_{{plain, initial_state(plain), std::move(settings), ""}} {
    for (const Step& step : steps) {
        Outcome outcome = apply(current(), step.command);
        invariant(std::holds_alternative<State>(outcome), "a step that was taken applies no more");
        put(step.command, std::get<State>(std::move(outcome)));
    }
}

std::optional<NotApplicable> Workbench::take(const Command& command) {
    Outcome outcome = apply(current(), command);
    if (NotApplicable* reason = std::get_if<NotApplicable>(&outcome)) return std::move(*reason);
    State next = std::get<State>(std::move(outcome));
    if (command.rule != "schedule")
        if (std::optional<NotApplicable> reason = loses_a_choice(next)) return reason;
    if (!changes_nothing(current(), next)) put(command, std::move(next));
    return std::nullopt;
}

void Workbench::put(const Command& command, State next) {
    put({plain(), std::move(next), settings(), typed_text(command)});
}

void Workbench::put(Moment next) {
    moments_.erase(moments_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, moments_.end());
    moments_.push_back(std::move(next));
    ++at_;
}

bool Workbench::undo() {
    return at_ > 0 && go_to(at_ - 1);
}

bool Workbench::redo() {
    return go_to(at_ + 1);
}

bool Workbench::go_to(std::size_t step) {
    if (step >= moments_.size()) return false;
    at_ = step;
    return true;
}

bool computes_the_same(const State& one, const State& other) {
    return one.diagram == other.diagram && one.relabelling == other.relabelling;
}

bool changes_nothing(const State& before, const State& now) {
    const auto choices = [](const State& state) {
        std::vector<std::string> texts;
        for (const Step& step : state.steps)
            if (step.command.rule == "schedule") texts.push_back(typed_text(step.command));
        return texts;
    };
    return computes_the_same(before, now) && choices(before) == choices(now);
}

std::vector<Command> commands_of(const State& state) {
    std::vector<Command> commands;
    for (const Step& step : state.steps) commands.push_back(step.command);
    return commands;
}

std::string typed_text(Command command) {
    command.comment.clear();
    return print(command);
}

std::string derivation_text(const Diagram& plain, const State& state, const Settings& settings) {
    std::string text = "# " + state.diagram.name + "\n";
    for (const auto& [name, value] : settings)
        text += find_axis(plain, name) ? "set " + name + " = " + value_text(value) + "\n"
                                       : "# --set " + name + "=" + value_text(value) + "\n";
    for (const Step& step : state.steps)
        if (step.command.rule != "set") text += print(step.command) + "\n";
    return text;
}

std::string contents_text(const Diagram& plain, const State& state, const Settings& settings) {
    const auto counted = [](std::ptrdiff_t count, const char* what) {
        return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
    };
    const auto steps = std::count_if(state.steps.begin(), state.steps.end(),
                                     [](const Step& step) { return step.command.rule != "set"; });
    const auto sizes = std::count_if(settings.begin(), settings.end(), [&](const auto& setting) {
        return find_axis(plain, setting.first).has_value();
    });
    if (sizes == 0) return counted(steps, "step");
    return (steps == 0 ? "" : counted(steps, "step") + " and ") + counted(sizes, "size");
}

std::string parameters_text(const Diagram& plain, const Settings& settings) {
    std::string text;
    for (const auto& [name, value] : settings)
        if (!find_axis(plain, name))
            text += (text.empty() ? "" : ",") + name + "=" + value_text(value);
    return text;
}

}  // namespace napkin::cli
