// Questions: derivations of which words are left open, and what they must reach. An answer puts
// words there, and is graded by replaying the derivation (grade.h). docs/quiz.md has the form of
// the files; a derivation makes questions of itself, one a step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/derivation_steps.h"
#include "derive/state.h"

namespace napkin::cli {

/// What must hold of a derivation.
struct Need {
    enum class Kind { Fits, Transferred, Held, Time, Refused };
    Kind kind = Kind::Fits;
    double most = 0;   ///< bytes, or seconds of Time
    std::string text;  ///< `H at most 5 GB`
};

/// A command of which the names after the rule, or the size, may be open, or everything.
struct OpenCommand {
    Command command;  ///< with stand-ins for what is open
    bool names = false;
    bool size = false;
    bool whole = false;
    [[nodiscard]] bool is_open() const { return names || size || whole; }
};
/// With `?` for what is open: `group ? by ?`, `?`.
[[nodiscard]] std::string print(const OpenCommand& open);

struct Question {
    std::string text;
    std::vector<OpenCommand> commands;          ///< one is open at least
    std::vector<Need> needs;                    ///< all must hold
    std::vector<std::vector<Command>> answers;  ///< one at least; a command for every open one
    Span span;
    /// The commands before the first open one.
    [[nodiscard]] std::vector<Command> given() const;
    /// One open command a line.
    [[nodiscard]] std::string open_text() const;
    [[nodiscard]] bool is_refused() const;
};

struct Quiz {
    std::string machine;  ///< empty where the file names none
    Span machine_place;
    std::vector<Question> questions;
};
/// Reads a file of questions; reports every error.
[[nodiscard]] Result<Quiz> parse_quiz(SourceMap& sources, std::uint32_t file);
/// What is typed for the open commands, at a place of a text in the source map, with `;` between:
/// whole commands, or what stands in place of `?` alone (`S, P, O`, `64`, `q by 64`).
[[nodiscard]] Result<std::vector<Command>> parse_answer(const Question& question,
                                                        const SourceMap& sources, Span place);
/// A question a step: which comes next, to move and hold no more than the derivation does after it?
[[nodiscard]] Quiz quiz_of(const std::vector<DerivedStep>& steps);

/// The derivation with an answer in place of what is open, or the diagnostic at a command of the
/// answer that is of another form.
[[nodiscard]] Result<std::vector<Command>> completed(const Question& question,
                                                     const std::vector<Command>& answer);
/// Commands on one line, as they are typed.
[[nodiscard]] std::string typed_text(const std::vector<Command>& commands);

}  // namespace napkin::cli
