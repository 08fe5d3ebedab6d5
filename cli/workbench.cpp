#include "cli/workbench.h"

namespace napkin::cli {
namespace {

/// The states from the plain diagram on, one a step.
std::vector<State> states_along(const Diagram& diagram, const std::vector<Step>& steps) {
    std::vector<State> states{initial_state(diagram)};
    for (const Step& step : steps) {
        Outcome outcome = apply(states.back(), step.command);
        invariant(std::holds_alternative<State>(outcome), "a step that was taken applies no more");
        states.push_back(std::get<State>(std::move(outcome)));
    }
    return states;
}

}  // namespace

Workbench::Workbench(const Diagram& plain, const std::vector<Step>& steps)
    : states_(states_along(plain, steps)), at_(states_.size() - 1) {}

std::optional<NotApplicable> Workbench::take(const Command& command) {
    Outcome outcome = apply(current(), command);
    if (NotApplicable* reason = std::get_if<NotApplicable>(&outcome)) return std::move(*reason);
    states_.resize(at_ + 1);
    states_.push_back(std::get<State>(std::move(outcome)));
    ++at_;
    return std::nullopt;
}

bool Workbench::undo() {
    return at_ > 0 && go_to(at_ - 1);
}

bool Workbench::redo() {
    return go_to(at_ + 1);
}

bool Workbench::go_to(std::size_t step) {
    if (step >= states_.size()) return false;
    at_ = step;
    return true;
}

std::optional<Diagnostics> Workbench::restart(const Diagram& diagram) {
    std::vector<Command> commands;
    for (const Step& step : current().steps) commands.push_back(step.command);
    const Result<State> state = replay(diagram, commands);
    if (!state) return state.error();
    states_ = states_along(diagram, state->steps);
    at_ = states_.size() - 1;
    return std::nullopt;
}

std::string derivation_text(const State& state, const Settings& settings) {
    std::string text = "# " + state.diagram.name + "\n";
    for (const auto& [name, value] : settings)
        text += find_axis(state.diagram, name) ? "set " + name + " = " + value_text(value) + "\n"
                                               : "# --set " + name + "=" + value_text(value) + "\n";
    for (const Step& step : state.steps)
        if (step.command.rule != "set") text += print(step.command) + "\n";
    return text;
}

}  // namespace napkin::cli
