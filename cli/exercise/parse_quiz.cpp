// Files of questions, a line each of
//
//   machine NAME                     once, before all questions
//   question WORDS                   begins one
//   COMMAND                          of a derivation, with `?` for what is asked
//   need fits | refused | H at most 5 GB | M at most 200 kB | time at most 2 ms
//   answer COMMAND [; COMMAND]
//
// Words of a question go to the end of the line; elsewhere a `#` begins a comment.
#include <algorithm>
#include <array>
#include <limits>

#include "cli/exercise/messages.h"
#include "cli/exercise/quiz.h"
#include "cli/prompt_arguments.h"
#include "diagrams/syntax/lexer.h"
#include "perfmodel/machine.h"

namespace napkin::cli {
namespace {

/// A byte that words of commands may have and that no text in UTF-8 has.
constexpr char kOpenName = '\xFF';
constexpr char kOpenDigit = '1';
constexpr std::string_view kBlanks = " \t\r";

struct QuizLine {
    std::string_view text;  ///< without blanks around it and its comment
    std::uint32_t begin = 0;
};

/// The first word, and what follows it.
std::pair<QuizLine, QuizLine> split_line(QuizLine line) {
    const std::size_t end = std::min(line.text.find_first_of(kBlanks), line.text.size());
    const std::size_t next = std::min(line.text.find_first_not_of(kBlanks, end), line.text.size());
    return {{line.text.substr(0, end), line.begin},
            {line.text.substr(next), line.begin + static_cast<std::uint32_t>(next)}};
}

/// Commands, one a line, in place of what stands at a place of a text.
Result<std::vector<Command>> commands_at(const std::string& words, Span place) {
    const auto moved = [&](Span span) {
        return Span{span.begin + place.begin, span.end + place.begin, place.file};
    };
    SourceMap apart;
    Result<std::vector<Command>> commands = parse_derivation(apart, apart.add("", words));
    if (!commands) {
        Diagnostics errors = commands.error();
        for (Diagnostic& each : errors.list) each.primary.span = moved(each.primary.span);
        return errors;
    }
    for (Command& command : *commands) command.span = moved(command.span);
    return commands;
}

/// Likewise, with `;` between.
Result<std::vector<Command>> commands_in(const SourceMap& sources, Span place) {
    std::string words(sources.text_of(place));
    std::replace(words.begin(), words.end(), ';', '\n');
    return commands_at(words, place);
}

/// Names with commas between; nothing where they are none.
std::vector<std::string> names_in(std::string_view text) {
    std::vector<std::string> names;
    for (bool more = true; more;) {
        const std::size_t comma = std::min(text.find(','), text.size());
        names.emplace_back(trimmed(text.substr(0, comma)));
        if (!syntax::is_name(names.back())) return {};
        more = comma < text.size();
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return names;
}

/// The open command with what is typed in place of `?`; nullopt where that is of another form.
std::optional<Command> put_in(const OpenCommand& open, std::string_view typed) {
    if (open.whole) return std::nullopt;
    Command command = open.command;
    command.comment.clear();
    if (open.size) {
        const std::size_t last = typed.find_last_of(kBlanks);
        const std::size_t begin = last == std::string_view::npos ? 0 : last + 1;
        const auto size = whole_number(std::string(typed.substr(begin)));
        if (!size || *size == 0 || *size > std::numeric_limits<std::int64_t>::max())
            return std::nullopt;
        command.size = static_cast<std::int64_t>(*size);
        typed = trimmed(typed.substr(0, begin));
        if (typed == "by" || typed.ends_with(" by"))
            typed = trimmed(typed.substr(0, typed.size() - 2));
    }
    if (open.names) command.names = names_in(typed);
    const bool fits = open.names ? !command.names.empty() : typed.empty();
    return fits ? std::optional(command) : std::nullopt;
}

struct NeedWord {
    std::string_view word;
    Need::Kind kind;
};
constexpr std::array kAmounts{NeedWord{"H", Need::Kind::Transferred},
                              NeedWord{"M", Need::Kind::Held}, NeedWord{"time", Need::Kind::Time}};

class QuizReader {
public:
    QuizReader(SourceMap& sources, std::uint32_t file)
        : sources_(sources), file_(file), text_(sources.files[file].text) {}

    Result<Quiz> read() {
        auto begin = static_cast<std::uint32_t>(begin_of(text_));
        while (begin < text_.size()) {
            const std::size_t end = std::min(text_.find('\n', begin), text_.size());
            read_line(line_between(begin, end));
            begin = static_cast<std::uint32_t>(end) + 1;
        }
        end_question();
        if (!errors_.has_errors() && quiz_.questions.empty())
            return no_questions(sources_.files[file_].name);
        if (errors_.has_errors()) return errors_;
        return std::move(quiz_);
    }

private:
    [[nodiscard]] QuizLine line_between(std::uint32_t begin, std::size_t end) const {
        const std::string_view whole = std::string_view(text_).substr(begin, end - begin);
        const std::size_t first = std::min(whole.find_first_not_of(kBlanks), whole.size());
        const bool is_question = whole.substr(first).starts_with("question");
        const std::size_t comment =
            is_question ? whole.size() : std::min(whole.find('#'), whole.size());
        const std::size_t last = whole.substr(0, comment).find_last_not_of(kBlanks);
        if (last == std::string_view::npos || last < first) return {};
        return {whole.substr(first, last + 1 - first), begin + static_cast<std::uint32_t>(first)};
    }
    [[nodiscard]] Span place(QuizLine line) const {
        return {line.begin, line.begin + static_cast<std::uint32_t>(line.text.size()), file_};
    }

    void read_line(QuizLine line) {
        if (line.text.empty()) return;
        const auto [word, rest] = split_line(line);
        const bool takes_words =
            word.text == "machine" || word.text == "question" || word.text == "answer";
        if (takes_words && rest.text.empty())
            return errors_.add(missing_words(place(word), std::string(word.text)));
        if (word.text == "machine") return machine(word, rest);
        if (word.text == "question") return question(line, rest);
        if (!question_) return errors_.add(outside_question(place(word), std::string(word.text)));
        if (word.text == "need") return need(rest.text.empty() ? word : rest);
        if (word.text == "answer") return answer(rest);
        command(line);
    }
    void machine(QuizLine word, QuizLine rest) {
        if (question_ || !quiz_.machine.empty()) return errors_.add(misplaced_machine(place(word)));
        quiz_.machine = std::string(rest.text);
        quiz_.machine_place = place(rest);
    }
    void question(QuizLine line, QuizLine words) {
        end_question();
        question_.emplace();
        question_->text = std::string(words.text);
        question_->span = place(line);
    }
    void end_question() {
        if (!question_) return;
        const bool open = std::any_of(question_->commands.begin(), question_->commands.end(),
                                      [](const OpenCommand& each) { return each.is_open(); });
        if (!open && !broken_) errors_.add(nothing_open(question_->span));
        if (open && question_->is_refused() &&
            (question_->needs.size() > 1 || !question_->commands.back().is_open()))
            errors_.add(refused_and_more(question_->span));
        if (question_->answers.empty() && !broken_) errors_.add(no_answer(question_->span));
        quiz_.questions.push_back(std::move(*question_));
        question_.reset();
        broken_ = false;
    }

    void need(QuizLine line) {
        const std::string text(line.text);
        if (text == "fits") return question_->needs.push_back({Need::Kind::Fits, 0, text});
        if (text == "refused") return question_->needs.push_back({Need::Kind::Refused, 0, text});
        for (const NeedWord& each : kAmounts) {
            const std::string start = std::string(each.word) + " at most ";
            if (!text.starts_with(start)) continue;
            const Dimension dimension =
                each.kind == Need::Kind::Time ? Dimension::Time : Dimension::Memory;
            const auto amount = parse_figure(text.substr(start.size()), dimension);
            if (const auto* why = std::get_if<std::string>(&amount))
                return errors_.add(bad_amount(place(line), *why));
            return question_->needs.push_back({each.kind, std::get<Figure>(amount).value, text});
        }
        errors_.add(unknown_need(place(line), text));
    }

    void answer(QuizLine line) {
        Result<std::vector<Command>> commands = commands_in(sources_, place(line));
        if (commands)
            question_->answers.push_back(std::move(commands).value());
        else
            give_up(commands.error());
    }

    /// Reports what is wrong with a line, and no more of its question.
    void give_up(const Diagnostics& errors) {
        broken_ = true;
        for (const Diagnostic& each : errors.list) errors_.add(each);
    }

    void command(QuizLine line) {
        OpenCommand open;
        if (line.text == "?") {
            open.whole = true;
            open.command.span = place(line);
            return question_->commands.push_back(std::move(open));
        }
        std::string words(line.text);
        std::size_t number = 0;
        std::string before;
        for (std::size_t at = 0; at < words.size();) {
            const std::size_t begin = std::min(words.find_first_not_of(kBlanks, at), words.size());
            at = std::min(words.find_first_of(kBlanks, begin), words.size());
            const std::string word = words.substr(begin, at - begin);
            if (word.find('?') != std::string::npos) {
                const bool is_size = before == "by";
                if (word != "?" || (!is_size && number != 1)) {
                    broken_ = true;
                    const auto from = line.begin + static_cast<std::uint32_t>(begin);
                    return errors_.add(misplaced_hole(
                        {from, from + static_cast<std::uint32_t>(word.size()), file_}));
                }
                (is_size ? open.size : open.names) = true;
                words[begin] = is_size ? kOpenDigit : kOpenName;
            }
            before = word;
            ++number;
        }
        const Result<std::vector<Command>> commands = commands_at(words, place(line));
        if (!commands) return give_up(commands.error());
        open.command = commands->front();
        if (open.command.rule == "set") return errors_.add(sizes_in_question(place(line)));
        question_->commands.push_back(std::move(open));
    }

    SourceMap& sources_;
    std::uint32_t file_;
    std::string text_;
    Quiz quiz_;
    std::optional<Question> question_;
    bool broken_ = false;  ///< whether a line of the question was reported already
    Diagnostics errors_;
};

}  // namespace

Result<std::vector<Command>> parse_answer(const Question& question, const SourceMap& sources,
                                          Span place) {
    std::vector<OpenCommand> open;
    for (const OpenCommand& each : question.commands)
        if (each.is_open()) open.push_back(each);
    const std::string_view all = sources.text_of(place);
    const std::string_view text = all.substr(0, all.find('#'));
    std::vector<Command> answer;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(';', begin), text.size());
        const std::string_view part = trimmed(text.substr(begin, end - begin));
        begin = end + 1;
        if (part.empty()) continue;
        const auto at = place.begin + static_cast<std::uint32_t>(part.data() - text.data());
        const Span here{at, at + static_cast<std::uint32_t>(part.size()), place.file};
        const OpenCommand& asked = open[std::min(answer.size(), open.size() - 1)];
        if (find_rule(part.substr(0, part.find_first_of(kBlanks))) == nullptr && !asked.whole) {
            std::optional<Command> command = put_in(asked, part);
            if (!command) return answer_of_another_form(here, print(asked));
            command->span = here;
            answer.push_back(std::move(*command));
            continue;
        }
        const Result<std::vector<Command>> commands = commands_in(sources, here);
        if (!commands) return commands.error();
        answer.insert(answer.end(), commands->begin(), commands->end());
    }
    return answer;
}

Result<Quiz> parse_quiz(SourceMap& sources, std::uint32_t file) {
    return QuizReader(sources, file).read();
}

}  // namespace napkin::cli
