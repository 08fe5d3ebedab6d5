// What may be typed at the prompt: help on it, completion of it, and what a misspelt word means.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "derive/state.h"

namespace napkin::cli {

/// A command of the prompt itself; the rules are steps, the subcommands run beside it.
struct PromptCommand {
    std::string_view name;
    std::string_view usage;
    std::string_view help;
    std::string_view more = {};  ///< lines that `help WORD` adds
};
using PromptCommands = std::span<const PromptCommand>;

/// Everything that can be typed.
[[nodiscard]] std::string help_text(PromptCommands commands);
/// A rule's usage, law, condition and an example, what a command does, or what a word means.
[[nodiscard]] std::string help_on(const std::string& word, PromptCommands commands);
/// Whether a word is a rule or one of those that are explained.
[[nodiscard]] bool is_told_of(std::string_view word);
/// That a word is no command, and which was probably meant.
[[nodiscard]] std::string unknown_text(const std::string& word, PromptCommands commands);

/// First words are commands; after one, names of axes, arrays and keywords.
[[nodiscard]] std::vector<std::string> words_after(std::string_view before, const State& state,
                                                   PromptCommands commands);

}  // namespace napkin::cli
