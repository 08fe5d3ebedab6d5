// Where a command's words go: data to standard output, talk to standard error.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "diagrams/diagnostic.h"

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
inline constexpr int kColumns = 80;  ///< where the reader's width is not known
/// Columns of the terminal on standard output, `kColumns` where it is none.
[[nodiscard]] int terminal_width();

// What people read is in ASCII where the locale does not write UTF-8 (cli/ascii.h).
/// Data, on standard output.
void print_data(std::string_view text);
/// What a file would hold, byte by byte, on standard output.
void print_bytes(std::string_view bytes);
/// Talk, on standard error.
void print_talk(std::string_view text);
/// Every message rendered on standard error.
void print_diagnostics(const Diagnostics& diagnostics, const SourceMap& sources);
/// The error when standard output did not take everything (a full disk, a closed pipe).
[[nodiscard]] std::optional<Diagnostic> flush_data();

}  // namespace napkin::cli
