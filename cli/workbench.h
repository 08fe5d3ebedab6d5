// The history of an interactive derivation, with a way back and forth.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/session.h"
#include "derive/state.h"
#include "diagrams/check.h"

namespace napkin::cli {

/// Where a derivation stood, by what was typed last.
struct Moment {
    Diagram plain;  ///< where its derivation starts
    State state;
    Settings settings;  ///< what differs from the diagram's own sizes and parameters
    std::string typed;  ///< empty at the start
};

class Workbench {
public:
    /// Begins with steps already taken from the plain diagram.
    explicit Workbench(const Diagram& plain, const std::vector<Step>& steps,
                       Settings settings = {});

    [[nodiscard]] const Diagram& plain() const { return moments_[at_].plain; }
    [[nodiscard]] const State& current() const { return moments_[at_].state; }
    [[nodiscard]] const Settings& settings() const { return moments_[at_].settings; }
    /// The state before what was typed last; the first has none.
    [[nodiscard]] const State* previous() const {
        return at_ == 0 ? nullptr : &moments_[at_ - 1].state;
    }
    /// Everything typed, what was undone included.
    [[nodiscard]] const std::vector<Moment>& moments() const { return moments_; }
    /// Which moment it stands at.
    [[nodiscard]] std::size_t step() const { return at_; }
    [[nodiscard]] std::size_t last_step() const { return moments_.size() - 1; }

    /// Takes a step, forgetting what was undone; the reason where the rule does not apply. What
    /// changes nothing is no step.
    [[nodiscard]] std::optional<NotApplicable> take(const Command& command);
    /// Goes on elsewhere: at other sizes, or with another derivation.
    void put(Moment next);
    bool undo();
    bool redo();
    bool go_to(std::size_t step);

private:
    void put(const Command& command, State next);

    std::vector<Moment> moments_;
    std::size_t at_ = 0;
};

/// Whether two states are one program, however it is carried out.
[[nodiscard]] bool computes_the_same(const State& one, const State& other);
inline constexpr const char* kNothingChanged = "  nothing changed\n";
/// Whether what lies between two states left everything as it was.
[[nodiscard]] bool changes_nothing(const State& before, const State& now);
/// The commands that led to a state.
[[nodiscard]] std::vector<Command> commands_of(const State& state);
/// A command as it is typed, without its comment.
[[nodiscard]] std::string typed_text(Command command);

/// The derivation that leads from a plain diagram to a state, as a `.drv` file; settings of sizes
/// are its `set` commands, those of parameters, which no derivation depends on, a comment. Which of
/// them they are is asked of the plain diagram: steps take axes away, and make others.
[[nodiscard]] std::string derivation_text(const Diagram& plain, const State& state,
                                          const Settings& settings);
/// What replays of such a file: `2 steps and 1 size`.
[[nodiscard]] std::string contents_text(const Diagram& plain, const State& state,
                                        const Settings& settings);
/// What does not: `eps=1e-05`, as `--set` takes it; empty where nothing is.
[[nodiscard]] std::string parameters_text(const Diagram& plain, const Settings& settings);

}  // namespace napkin::cli
