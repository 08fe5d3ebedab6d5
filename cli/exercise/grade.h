// Grading: an answer is put into its question and the derivation replayed. The rules say what is
// refused, the model whether it reaches what is needed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/exercise/quiz.h"
#include "cli/picture.h"

namespace napkin::cli {

/// What came of an answer.
struct Grade {
    bool right = false;
    std::string reason;  ///< the figures, the rule's refusal, or what is not reached
    std::string help;    ///< what a refusal proposes
    std::string kind;    ///< wrong answers of one kind go wrong in the same way
};

/// Grades answers to one question.
class Grader {
public:
    /// The diagnostic at the first command before the open one that does not apply.
    static Result<Grader> create(const Diagram& plain, const Machine& machine, Question question);
    /// The diagnostic where the answer is of another form.
    [[nodiscard]] Result<Grade> grade(const std::vector<Command>& answer);
    /// What the derivation costs with an answer; nothing where that is none.
    [[nodiscard]] std::optional<Cost> cost(const std::vector<Command>& answer) const;
    [[nodiscard]] const Question& question() const { return question_; }
    /// Where the first open command stands.
    [[nodiscard]] const State& before() const { return before_; }
    /// What is needed, a line each: `fits H200`.
    [[nodiscard]] std::vector<std::string> needs() const;

private:
    Grader(const Diagram& plain, const Machine& machine, Question question, State before)
        : plain_(plain),
          machine_(machine),
          question_(std::move(question)),
          before_(std::move(before)),
          cost_(machine) {}
    [[nodiscard]] Grade judge(const State& state);

    Diagram plain_;
    Machine machine_;
    Question question_;
    State before_;
    CostOfSteps cost_;
};

/// The graders of all questions; the diagnostic at the first answer in the file that is wrong.
[[nodiscard]] Result<std::vector<Grader>> graders_of(const Diagram& plain, const Machine& machine,
                                                     const Quiz& quiz);

/// Answers as a reader would try them: every axis and array, sizes that are powers of two, and the
/// question's own; a diagnostic where they are more than `most`.
[[nodiscard]] Result<std::vector<std::vector<Command>>> likely_answers(const Question& question,
                                                                       const State& before,
                                                                       std::size_t most);

}  // namespace napkin::cli
