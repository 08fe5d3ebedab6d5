// What a question needs at any sizes, as formulas: what a page grades that was not tried
// beforehand.
#pragma once

#include "cli/exercise/grade.h"
#include "cli/json.h"

namespace napkin::cli {

/// An answer and what comes of it.
struct Tried {
    std::vector<Command> answer;
    Grade grade;
};

/// `{regions, sets, needs, whole}` where sizes alone are open: of each region its symbols and the
/// bits that it transfers and holds as trees, the pairs of a region and a symbol that each open
/// size sets, and what is needed of H and M, `whole` where nothing else is. Null where there are no
/// formulas that agree with all that was tried.
[[nodiscard]] Json sizes_json(const Grader& grader, const std::vector<Tried>& tried);

}  // namespace napkin::cli
