#include "cli/commands.h"

#include <array>

namespace napkin::cli {

std::span<const Command> all_commands() {
    // clang-format off
    static constexpr std::array kCommands = {
        Command{"check", "say whether a diagram is well formed, and what is wrong with it",
                Takes{.json = true}, run_check},
        Command{"fmt", "print a diagram's canonical text",
                Takes{.sets = false, .output = true}, run_fmt},
    };
    // clang-format on
    return kCommands;
}

}  // namespace napkin::cli
