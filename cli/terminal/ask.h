// Asks the terminal on standard input and output which images it takes.
#pragma once

#include "cli/terminal/answers.h"

namespace napkin::cli {

/// What it answered within a second; nothing where standard input or output is no terminal, or one
/// that wants no colours (`wants_color`), which is not asked.
[[nodiscard]] Answers ask_terminal();

}  // namespace napkin::cli
