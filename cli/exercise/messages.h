// Wording of errors in questions and answers, one factory function per code (E906x, E907x).
#pragma once

#include <cstddef>
#include <string>

#include "diagrams/diagnostic.h"

namespace napkin::cli {

[[nodiscard]] Diagnostic outside_question(Span place, const std::string& word);
[[nodiscard]] Diagnostic misplaced_machine(Span place);
[[nodiscard]] Diagnostic missing_words(Span place, const std::string& word);
[[nodiscard]] Diagnostic unknown_need(Span place, const std::string& text);
[[nodiscard]] Diagnostic bad_amount(Span place, const std::string& why);
[[nodiscard]] Diagnostic misplaced_hole(Span place);
[[nodiscard]] Diagnostic nothing_open(Span question);
[[nodiscard]] Diagnostic no_answer(Span question);
/// Of what must be refused, which has no figures, and after which nothing comes.
[[nodiscard]] Diagnostic refused_and_more(Span question);
[[nodiscard]] Diagnostic sizes_in_question(Span place);
[[nodiscard]] Diagnostic wrong_answer(Span place, const std::string& answer,
                                      const std::string& reason);
[[nodiscard]] Diagnostic answer_of_another_form(Span place, const std::string& open);
[[nodiscard]] Diagnostic no_questions(const std::string& path);
/// Of `quiz`, which takes its questions from one file.
[[nodiscard]] Diagnostic questions_of_one();
/// Of a page.
[[nodiscard]] Diagnostic too_many_answers(Span question, std::size_t count, std::size_t most);

}  // namespace napkin::cli
