#include "cli/workbench.h"

namespace napkin::cli {
Workbench::Workbench(const Diagram& plain, const std::vector<Step>& steps, Settings settings)
    : moments_{{plain, initial_state(plain), std::move(settings), ""}} {
    for (const Step& step : steps)
        invariant(!take(step.command), "a step that was taken applies no more");
}

std::optional<NotApplicable> Workbench::take(const Command& command) {
    Outcome outcome = apply(current(), command);
    if (NotApplicable* reason = std::get_if<NotApplicable>(&outcome)) return std::move(*reason);
    put({plain(), std::get<State>(std::move(outcome)), settings(), typed_text(command)});
    return std::nullopt;
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

std::vector<Command> commands_of(const State& state) {
    std::vector<Command> commands;
    for (const Step& step : state.steps) commands.push_back(step.command);
    return commands;
}

std::string typed_text(Command command) {
    command.comment.clear();
    return print(command);
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
