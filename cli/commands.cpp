#include "cli/commands.h"

#include <array>

namespace napkin::cli {

std::span<const Subcommand> all_subcommands() {
    // clang-format off
    static constexpr std::array kSubcommands = {
        Subcommand{"check", "say whether a diagram is well formed, and what is wrong with it",
                Takes{.json = true}, run_check},
        Subcommand{"fmt", "print a diagram's canonical text",
                Takes{.sets = false, .output = true}, run_fmt},
        Subcommand{"machines", "list machines, or the figures of one with their sources",
                Takes{.file = false, .sets = false, .json = true, .topic = "NAME"}, run_machines},
    };
    // clang-format on
    return kSubcommands;
}

}  // namespace napkin::cli
