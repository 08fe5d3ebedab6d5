// Where a command's words go: data to standard output, talk to standard error, files whole or not
// at all.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "diagrams/diagnostic.h"
#include "diagrams/result.h"

namespace napkin::cli {

// Exit codes, as the design lists them.
inline constexpr int kOk = 0;
inline constexpr int kUserInput = 1;
inline constexpr int kUsage = 2;
inline constexpr int kWrongResult = 3;
inline constexpr int kMissing = 4;
inline constexpr int kNotProved = 5;
inline constexpr int kBug = 70;

/// The exit code of a command that ended with these messages.
[[nodiscard]] int exit_code_of(const Diagnostics& diagnostics);

/// Whether a stream (1 or 2) is a terminal that wants colours: NO_COLOR and `TERM=dumb` say no.
[[nodiscard]] bool wants_color(int stream);
/// Columns of the terminal on standard output, 100 where it is none.
[[nodiscard]] int terminal_width();

/// Data, on standard output.
void print_data(std::string_view text);
/// Talk, on standard error.
void print_talk(std::string_view text);
/// Every message rendered on standard error.
void print_diagnostics(const Diagnostics& diagnostics, const SourceMap& sources);
/// The error when standard output did not take everything (a full disk, a closed pipe).
[[nodiscard]] std::optional<Diagnostic> flush_data();

/// Files above this are refused: a `.ncd` or `.drv` is text that people write.
inline constexpr std::size_t kLargestText = std::size_t{1} << 26;
/// The bytes of a file, or the diagnostic that says why not.
[[nodiscard]] Result<std::string> read_file(const std::string& path,
                                            std::size_t largest = kLargestText);
/// Writes a file whole or not at all: to a temporary file beside it first, renamed when it is
/// complete. `-` and special files (a pipe, /dev/stdout) are written directly.
[[nodiscard]] std::optional<Diagnostic> write_file(const std::string& path, std::string_view text);
/// To the file when `path` names one, else to standard output.
[[nodiscard]] std::optional<Diagnostic> write_data(const std::string& path, std::string_view text);
/// Makes a folder and its parents.
[[nodiscard]] std::optional<Diagnostic> make_folder(const std::string& path);

}  // namespace napkin::cli
