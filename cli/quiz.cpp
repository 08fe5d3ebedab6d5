// quiz: questions at the prompt, graded by replaying the derivation.
#include <algorithm>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exercise/asked.h"
#include "cli/exercise/messages.h"
#include "cli/line_reader.h"
#include "cli/prompt_arguments.h"
#include "cli/workbench.h"

namespace napkin::cli {
namespace {

constexpr const char* kQuizHelp =
    "  answer with what stands in place of `?`, as in `q by 64`, or with whole commands, as in\n"
    "  `group q by 64`; several with `;` between\n"
    "  again    the question once more\n"
    "  answer   an answer that is right, and the next question\n"
    "  skip     the next question\n"
    "  quit     leave\n";

std::string question_text(const Grader& grader, std::size_t number, std::size_t count) {
    const Question& question = grader.question();
    std::string text =
        std::to_string(number) + " of " + std::to_string(count) + ": " + question.text + "\n";
    for (const OpenCommand& each : question.commands) text += "    " + print(each) + "\n";
    std::string needs;
    for (const std::string& need : grader.needs()) needs += (needs.empty() ? "" : ", ") + need;
    return text + (needs.empty() ? "" : "  needed: " + needs + "\n");
}

/// What a word at the prompt leads to.
enum class Turn { Stay, Next, Answered, Leave };

/// One run through all questions.
class Examination {
public:
    Examination(Context& context, std::vector<Grader> graders)
        : context_(context),
          graders_(std::move(graders)),
          reader_("napkin> ", history_file(), [this](std::string_view) { return words(); }) {}

    int run() {
        std::size_t answered = 0;
        for (at_ = 0; at_ < graders_.size(); ++at_) {
            ask();
            Turn turn = Turn::Stay;
            while (turn == Turn::Stay) {
                const std::optional<std::string> line = reader_.next();
                turn = line ? take(std::string(trimmed(*line))) : Turn::Leave;
            }
            if (turn == Turn::Leave) break;
            answered += turn == Turn::Answered ? 1 : 0;
        }
        print_data(std::to_string(answered) + " of " + std::to_string(graders_.size()) +
                   " answered\n");
        return answered == graders_.size() ? kOk : kWrongResult;
    }

private:
    void ask() { print_data(question_text(graders_[at_], at_ + 1, graders_.size())); }

    Turn take(const std::string& line) {
        if (line.empty()) return Turn::Stay;
        if (line == "quit" || line == "exit") return Turn::Leave;
        if (line == "skip") return Turn::Next;
        if (line == "answer") {
            print_data("  " + typed_text(graders_[at_].question().answers.front()) + "\n\n");
            return Turn::Next;
        }
        if (line == "again") {
            ask();
            return Turn::Stay;
        }
        if (line == "help") {
            print_data(kQuizHelp);
            return Turn::Stay;
        }
        return grade(line);
    }

    Turn grade(const std::string& line) {
        const auto end = static_cast<std::uint32_t>(line.size());
        const Result<std::vector<Command>> answer =
            parse_answer(graders_[at_].question(), context_.sources,
                         Span{0, end, context_.sources.add("<typed>", line)});
        if (!answer) return tell(answer.error());
        if (answer->empty()) return Turn::Stay;
        const Result<Grade> grade = graders_[at_].grade(*answer);
        if (!grade) return tell(grade.error());
        print_data((grade->right ? "  right: " : "  wrong: ") + grade->reason + "\n" +
                   (grade->help.empty() ? "" : "  " + grade->help + "\n"));
        if (grade->right) print_data("\n");
        return grade->right ? Turn::Answered : Turn::Stay;
    }

    Turn tell(const Diagnostics& wrong) {
        print_diagnostics(wrong, context_.sources);
        return Turn::Stay;
    }

    [[nodiscard]] std::vector<std::string> words() const {
        std::vector<std::string> list{"again", "answer", "skip", "quit", "help", "by", "all"};
        const State& state = graders_[std::min(at_, graders_.size() - 1)].before();
        for (const Rule& rule : all_rules()) list.emplace_back(rule.name);
        for (const Axis& axis : state.diagram.axes) list.push_back(axis.name);
        for (const Array& array : state.diagram.arrays) list.push_back(array.name);
        return list;
    }

    Context& context_;
    std::vector<Grader> graders_;
    std::size_t at_ = 0;
    LineReader reader_;
};

}  // namespace

Result<int> run_quiz(Context& context) {
    const Arguments& arguments = context.arguments;
    if (arguments.quiz.empty() == arguments.derivation.empty()) return questions_of_one();
    Result<Asked> asked = load_asked(context);
    if (!asked) return asked.error();
    return Examination(context, std::move(asked->graders)).run();
}

}  // namespace napkin::cli
