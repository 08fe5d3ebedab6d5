// The states of an interactive derivation, with a way back and forth.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/session.h"
#include "derive/state.h"
#include "diagrams/check.h"

namespace napkin::cli {

class Workbench {
public:
    /// Begins with steps already taken from the plain diagram.
    Workbench(const Diagram& plain, const std::vector<Step>& steps);

    [[nodiscard]] const State& current() const { return states_[at_]; }
    /// The state before the last step; the plain diagram has none.
    [[nodiscard]] const State* previous() const { return at_ == 0 ? nullptr : &states_[at_ - 1]; }
    /// How many steps lead to the current state.
    [[nodiscard]] std::size_t step() const { return at_; }
    /// How many steps there are, those that were undone included.
    [[nodiscard]] std::size_t last_step() const { return states_.size() - 1; }

    /// Takes a step, forgetting what was undone; the reason where the rule does not apply.
    [[nodiscard]] std::optional<NotApplicable> take(const Command& command);
    bool undo();
    bool redo();
    bool go_to(std::size_t step);
    /// Replays all steps on the diagram at other sizes; nothing changes where one fails.
    [[nodiscard]] std::optional<Diagnostics> restart(const Diagram& diagram);

private:
    std::vector<State> states_;
    std::size_t at_ = 0;
};

/// The derivation that leads to a state, as a `.drv` file; settings of sizes are its `set`
/// commands, those of parameters, which no derivation depends on, a comment.
[[nodiscard]] std::string derivation_text(const State& state, const Settings& settings);

}  // namespace napkin::cli
