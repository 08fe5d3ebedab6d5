// Derivation at a prompt: after each command the diagram, its figures, what changed and why.
#pragma once

#include "cli/commands.h"
#include "cli/session.h"

namespace napkin::cli {

/// Reads commands until the end of input or `quit`.
[[nodiscard]] Result<int> run_interactive(Context& context, Loaded loaded);

}  // namespace napkin::cli
