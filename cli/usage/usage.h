// What the subcommands and their options are, as values: the shells' completions and the manual
// page are printed from them.
#pragma once

#include <string>
#include <vector>

namespace napkin::cli {

/// One option, or one word without a dash.
struct OptionUsage {
    std::vector<std::string> names;    ///< `-o`, `--out`; empty for a word without a dash
    std::string value;                 ///< what its value is called; empty for a flag
    std::string description;           ///< lower case, one line
    std::vector<std::string> choices;  ///< the values that are likely, or all there are
    std::string files;                 ///< the pattern of the files that it names; empty for none
    bool repeated = false;             ///< whether it may be given more than once
};

struct CommandUsage {
    std::string name;
    std::string description;
    std::vector<OptionUsage> options;
};

/// `0.1.0, commit 0a1b2c3d4e5f`; with what was changed since said, and without a commit where the
/// sources came without Git.
[[nodiscard]] std::string version_text();

/// Every subcommand in the order of the help; defined beside the arguments.
[[nodiscard]] std::vector<CommandUsage> all_usages();
/// One line that says what napkin is, and one that lists its exit codes.
[[nodiscard]] std::string about_napkin();
[[nodiscard]] std::string about_exit_codes();

/// The completions of `bash`, `zsh` or `fish`, a script for their folders.
[[nodiscard]] std::string completions(const std::string& shell);
/// The manual page, in `man`'s macros.
[[nodiscard]] std::string manual_page();

}  // namespace napkin::cli
