// Questions on a page: what slides ask and grade, and what the teacher's sheet answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/exercise/grade.h"
#include "cli/report/page.h"

namespace napkin::cli {

/// Makes slides of a report: every question stands at the step that its derivation begins with, not
/// before an earlier question, else at the last; with it the outcome of every likely answer.
/// `prompt` is the command that grades any other.
[[nodiscard]] std::optional<Diagnostics> add_questions(ReportPage& page,
                                                       const std::vector<DerivedStep>& steps,
                                                       std::vector<Grader>& graders,
                                                       const std::string& prompt);

/// The teacher's sheet, a page: the answers, and what the others run into.
[[nodiscard]] Result<std::string> sheet_of(const std::string& title, const Machine& machine,
                                           std::vector<Grader>& graders);

}  // namespace napkin::cli
