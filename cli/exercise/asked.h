// What is asked for at the command line: a diagram, a derivation of it, and questions.
#pragma once

#include "cli/exercise/grade.h"
#include "cli/session.h"

namespace napkin::cli {

struct Asked {
    Loaded loaded;
    Machine machine;                 ///< `--machine`, or the one that the questions name
    std::vector<DerivedStep> steps;  ///< of `--drv`
    std::vector<Grader> graders;     ///< of `--quiz`, or of the steps where it is not given
};
[[nodiscard]] Result<Asked> load_asked(Context& context);

}  // namespace napkin::cli
