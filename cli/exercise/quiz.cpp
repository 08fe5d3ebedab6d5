#include "cli/exercise/quiz.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/exercise/messages.h"
#include "cli/numbers.h"
#include "cli/workbench.h"

namespace napkin::cli {
namespace {

/// A size that no axis has.
constexpr std::int64_t kOpenSize = std::numeric_limits<std::int64_t>::max();

/// The clause of an answer, which may leave away what the question says.
bool take_clause(std::string& clause, const std::string& answered) {
    if (!clause.empty() && !answered.empty() && clause != answered) return false;
    if (clause.empty()) clause = answered;
    return true;
}

/// The open command as answered; nullopt where the answer is of another form.
std::optional<Command> filled_in(const OpenCommand& open, const Command& answer) {
    if (open.whole && answer.rule != "set") return answer;
    Command command = open.command;
    if (open.names) command.names = answer.names;
    if (open.size) command.size = answer.size;
    command.span = answer.span;
    command.comment.clear();
    const bool same = command.rule == answer.rule && command.names == answer.names &&
                      command.size == answer.size && command.as == answer.as &&
                      command.to == answer.to && command.of == answer.of &&
                      command.value == answer.value;
    if (!same || answer.names.empty() || (open.size && !answer.size)) return std::nullopt;
    if (!take_clause(command.at, answer.at) || !take_clause(command.in, answer.in))
        return std::nullopt;
    return command;
}

/// The least amount of three digits that is not below.
double rounded_up(double amount) {
    if (amount <= 0) return 0;
    const double unit = std::pow(10, std::floor(std::log10(amount)) - 2);
    return unit <= 1 ? std::ceil(amount) : std::ceil(amount / unit) * unit;
}

Need at_most(Need::Kind kind, const std::string& name, double bytes) {
    const double most = rounded_up(bytes);
    return {kind, most, name + " at most " + bytes_text(most)};
}

bool can_be_asked(const Command& command) {
    return !command.names.empty() && command.rule != "set" && command.rule != "schedule";
}

}  // namespace

std::string print(const OpenCommand& open) {
    if (open.whole) return "?";
    Command command = open.command;
    command.comment.clear();
    if (open.names) command.names = {"?"};
    if (!open.size) return print(command);
    command.size = kOpenSize;
    std::string text = print(command);
    const std::string size = std::to_string(kOpenSize);
    return text.replace(text.find(size), size.size(), "?");
}

std::vector<Command> Question::given() const {
    std::vector<Command> before;
    for (const OpenCommand& each : commands) {
        if (each.is_open()) break;
        before.push_back(each.command);
    }
    return before;
}

std::string Question::open_text() const {
    std::string open;
    for (const OpenCommand& each : commands)
        if (each.is_open()) open += (open.empty() ? "" : "; ") + print(each);
    return open;
}

bool Question::is_refused() const {
    return std::any_of(needs.begin(), needs.end(),
                       [](const Need& need) { return need.kind == Need::Kind::Refused; });
}

Quiz quiz_of(const std::vector<DerivedStep>& steps) {
    Quiz quiz;
    std::vector<OpenCommand> before;
    for (const DerivedStep& step : steps) {
        if (step.step() == nullptr) continue;
        const Command& command = step.step()->command;
        if (can_be_asked(command)) {
            Question question;
            question.text = "What is the next step?";
            question.commands = before;
            question.commands.push_back({command, true, command.size.has_value()});
            question.needs = {at_most(Need::Kind::Transferred, "H", step.figures.transferred),
                              at_most(Need::Kind::Held, "M", step.figures.memory)};
            question.answers = {{command}};
            question.span = command.span;
            quiz.questions.push_back(std::move(question));
        }
        before.push_back({command, false, false});
    }
    return quiz;
}

Result<std::vector<Command>> completed(const Question& question,
                                       const std::vector<Command>& answer) {
    std::vector<Command> commands;
    std::size_t next = 0;
    for (const OpenCommand& each : question.commands) {
        if (!each.is_open()) {
            commands.push_back(each.command);
            continue;
        }
        const std::optional<Command> command =
            next < answer.size() ? filled_in(each, answer[next]) : std::nullopt;
        const Span place = answer[std::min(next++, answer.size() - 1)].span;
        if (!command) return answer_of_another_form(place, question.open_text());
        commands.push_back(*command);
    }
    if (next < answer.size())
        return answer_of_another_form(answer[next].span, question.open_text());
    return commands;
}

std::string typed_text(const std::vector<Command>& commands) {
    std::string text;
    for (const Command& command : commands)
        text += (text.empty() ? "" : "; ") + typed_text(command);
    return text;
}

}  // namespace napkin::cli
