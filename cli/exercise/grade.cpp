#include "cli/exercise/grade.h"

#include <algorithm>

#include "cli/cost_text.h"
#include "cli/exercise/messages.h"
#include "cli/numbers.h"
#include "cli/workbench.h"

namespace napkin::cli {
namespace {

struct Reached {
    std::string name;
    double amount = 0;
    std::string text;
};

Reached reached_by(const Figures& figures, Need::Kind kind) {
    if (kind == Need::Kind::Transferred)
        return {"H", figures.transferred, bytes_text(figures.transferred)};
    if (kind == Need::Kind::Held) return {"M", figures.memory, bytes_text(figures.memory)};
    return {"time", figures.time_high, time_text(figures.time_high)};
}

std::string figures_line(const Figures& figures) {
    return "H " + bytes_text(figures.transferred) + ", M " + bytes_text(figures.memory) +
           ", time " + times_text(figures);
}

}  // namespace

Result<Grader> Grader::create(const Diagram& plain, const Machine& machine, Question question) {
    Result<State> before = replay(plain, question.given());
    if (!before) return before.error();
    return Grader(plain, machine, std::move(question), std::move(before).value());
}

std::vector<std::string> Grader::needs() const {
    std::vector<std::string> lines;
    for (const Need& need : question_.needs)
        lines.push_back(need.kind == Need::Kind::Fits      ? "fits " + machine_.name
                        : need.kind == Need::Kind::Refused ? "a refusal"
                                                           : need.text);
    return lines;
}

Grade Grader::judge(const State& state) {
    const Result<Cost> cost = cost_(state);
    if (!cost) return {false, cost.error().list.front().message, "", "cannot be costed"};
    const Figures figures = figures_of(*cost, machine_);
    Grade grade{true, figures_line(figures), "", ""};
    const auto fail = [&](const std::string& reason, const std::string& kind) {
        grade.reason = (grade.right ? "" : grade.reason + "; ") + reason;
        grade.kind += (grade.right ? "" : ", ") + kind;
        grade.right = false;
    };
    for (const Need& need : question_.needs) {
        if (need.kind == Need::Kind::Fits) {
            const Diagnostics large = capacity_warnings({plain_, state, *cost, &machine_});
            if (!large.list.empty()) fail(large.list.front().message, "does not fit");
            continue;
        }
        const Reached reached = reached_by(figures, need.kind);
        if (reached.amount > need.most)
            fail(reached.name + " is " + reached.text + ", and needed is " + need.text,
                 "too much " + reached.name);
    }
    return grade;
}

std::optional<Cost> Grader::cost(const std::vector<Command>& answer) const {
    const Result<std::vector<Command>> commands = completed(question_, answer);
    if (!commands) return std::nullopt;
    const Result<State> state = replay(plain_, *commands);
    if (!state) return std::nullopt;
    Result<Cost> cost = cost_of_state(*state);
    return cost ? std::optional(std::move(*cost)) : std::nullopt;
}

Result<Grade> Grader::grade(const std::vector<Command>& answer) {
    const Result<std::vector<Command>> commands = completed(question_, answer);
    if (!commands) return commands.error();
    State state = before_;
    for (std::size_t i = question_.given().size(); i < commands->size(); ++i) {
        const Command& command = (*commands)[i];
        const bool answered = question_.commands[i].is_open();
        Outcome outcome = apply(state, command);
        if (const auto* refusal = std::get_if<NotApplicable>(&outcome)) {
            const bool asked = answered && question_.is_refused();
            const std::string reason =
                (answered ? "" : "then `" + typed_text(command) + "` is ") +
                (asked && !refusal->by_law ? "no law refuses it: " : "refused: ") + refusal->reason;
            return Grade{asked && refusal->by_law, reason, refusal->help, reason};
        }
        state = std::get<State>(std::move(outcome));
        if (question_.is_refused() && answered)
            return Grade{false, "it applies, by the law: " + state.steps.back().law, "",
                         "it applies"};
    }
    return judge(state);
}

Result<std::vector<Grader>> graders_of(const Diagram& plain, const Machine& machine,
                                       const Quiz& quiz) {
    std::vector<Grader> graders;
    for (const Question& question : quiz.questions) {
        Result<Grader> grader = Grader::create(plain, machine, question);
        if (!grader) return grader.error();
        for (const std::vector<Command>& answer : question.answers) {
            const Result<Grade> grade = grader->grade(answer);
            if (!grade) return grade.error();
            if (!grade->right)
                return wrong_answer(cover(answer.front().span, answer.back().span),
                                    typed_text(answer), grade->reason);
        }
        graders.push_back(std::move(grader).value());
    }
    return graders;
}

}  // namespace napkin::cli
