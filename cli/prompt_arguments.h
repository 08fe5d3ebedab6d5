// Subcommands at the prompt: what is typed there as the arguments of a command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"

namespace napkin::cli {

/// The subcommand that a word runs on the derivation as it stands, with the options that it has on
/// the command line; null where it is none.
[[nodiscard]] const Subcommand* subcommand_at_prompt(std::string_view word);
/// Its arguments; the file and the machine are those of the session. Where what was typed is
/// wrong, or asks for help, that is answered, and nothing returned.
[[nodiscard]] std::optional<Arguments> typed_arguments(const Subcommand& subcommand,
                                                       const Arguments& session,
                                                       const std::string& rest);

// The usage is printed where they are not that:
/// `draw FILE`, `emit [FORM] [FILE]`.
[[nodiscard]] std::optional<Arguments> draw_arguments(const Arguments& session,
                                                      const std::string& rest);
[[nodiscard]] std::optional<Arguments> emit_arguments(const Arguments& session,
                                                      const std::string& rest);
/// `run [NAME=VALUE...] [DEVICE]`.
[[nodiscard]] std::optional<Arguments> run_arguments(const Arguments& session,
                                                     const std::string& rest);

/// A file as a shell would take it: quotes around it, and `~` for one's own folder.
[[nodiscard]] std::string file_named(const std::string& typed);
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// A number without a sign, if that is the whole text.
[[nodiscard]] std::optional<std::size_t> whole_number(const std::string& text);
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

}  // namespace napkin::cli
