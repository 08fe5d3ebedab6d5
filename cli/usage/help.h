// Help in a terminal's lines, and what a word that is not known was probably meant to be.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace napkin::cli {

/// Breaks what is shown beside the names of options and subcommands.
void break_lines(CLI::App& app);

/// The subcommand that a misspelt one, or another tool's, was probably meant to be.
[[nodiscard]] std::optional<std::string> subcommand_near(std::string_view word);
/// What is wrong with options that a command does not have, among the words that it did not take;
/// empty where there are none.
[[nodiscard]] std::string unknown_options(const CLI::App& command,
                                          const std::vector<std::string>& rest);

}  // namespace napkin::cli
