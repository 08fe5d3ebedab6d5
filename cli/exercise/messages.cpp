#include "cli/exercise/messages.h"

namespace napkin::cli {
namespace {

Diagnostic at_place(std::string code, Span place, std::string message, std::string help) {
    return {.code = std::move(code),
            .message = std::move(message),
            .primary = {place, ""},
            .related = {},
            .help = std::move(help)};
}

}  // namespace

Diagnostic outside_question(Span place, const std::string& word) {
    return at_place("E9060", place, "`" + word + "` stands before the first question",
                    "begin a question with `question` and its words");
}

Diagnostic misplaced_machine(Span place) {
    return at_place("E9061", place, "the machine is named once, before the first question",
                    "leave this line away, or move it to the top");
}

Diagnostic missing_words(Span place, const std::string& word) {
    return at_place("E9062", place, "nothing follows `" + word + "`",
                    word == "question" ? "write what is asked on the same line"
                    : word == "answer" ? "write the commands that stand for the open ones"
                                       : "write it as `machine H200`");
}

Diagnostic unknown_need(Span place, const std::string& text) {
    return at_place("E9063", place, "`" + text + "` is nothing that can be needed",
                    "write `fits`, `refused`, `H at most 5 GB`, `M at most 200 kB` or `time at "
                    "most 2 ms`");
}

Diagnostic bad_amount(Span place, const std::string& why) {
    return at_place("E9064", place, why, "write it as `need H at most 5 GB`");
}

Diagnostic misplaced_hole(Span place) {
    return at_place(
        "E9065", place, "`?` cannot stand here",
        "it stands for a whole command, for all names after a rule, or for the size after "
        "`by`, as in `group ? by ?`");
}

Diagnostic nothing_open(Span question) {
    return at_place("E9066", question, "this question leaves nothing open",
                    "put `?` in place of names or of a size, as in `group ? by ?`");
}

Diagnostic no_answer(Span question) {
    return at_place("E9067", question, "this question has no answer",
                    "write one as `answer group q by 128`; it is checked");
}

Diagnostic refused_and_more(Span question) {
    return at_place("E9074", question, "what is refused moves nothing, and nothing comes after it",
                    "with `need refused` the open command is the last, and nothing else is needed");
}

Diagnostic sizes_in_question(Span place) {
    return at_place("E9068", place, "a question sets no sizes",
                    "they are the diagram's, or given by `--set q=8192`");
}

Diagnostic wrong_answer(Span place, const std::string& answer, const std::string& reason) {
    return at_place("E9069", place, "the answer `" + answer + "` is wrong: " + reason,
                    "mend the answer, or what is needed");
}

Diagnostic answer_of_another_form(Span place, const std::string& open) {
    return at_place("E9070", place, "the answer is of another form than `" + open + "`",
                    "write that with names and sizes in place of `?`, or these alone");
}

Diagnostic no_questions(const std::string& path) {
    return plain_error("E9071", "`" + path + "` asks nothing",
                       "begin a question with `question` and its words; of a derivation, a step "
                       "that names something is asked for");
}

Diagnostic questions_of_one() {
    return plain_error("E9072", "the questions come from one file",
                       "name a file of questions as `--quiz Q.quiz`, or a derivation whose steps "
                       "are asked for as `--drv D.drv`");
}

Diagnostic too_many_answers(Span question, std::size_t count, std::size_t most) {
    return at_place("E9073", question,
                    "this question has " + std::to_string(count) +
                        " likely answers, and a page grades " + std::to_string(most) + " at most",
                    "leave fewer words open; `napkin quiz` grades any answer");
}

}  // namespace napkin::cli
