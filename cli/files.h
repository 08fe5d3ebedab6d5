// Files that commands read and write. Results are written whole or not at all, and never over what
// a command reads or a person wrote.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "diagrams/text_file.h"

namespace napkin::cli {

/// What tells the schedules that `emit` wrote, and in its first line a machine that `calibrate`
/// did.
inline constexpr std::string_view kProgramBelow = "\n# region ";
inline constexpr std::string_view kMeasuredBy = "as `napkin calibrate` measured it";

/// Why a command must not write where its arguments say: to a file that it reads (by whatever
/// name), or over a diagram, derivation, quiz, schedule, machine or hypothesis that it did not
/// write; or a page to a file whose ending is of something else.
[[nodiscard]] std::optional<Diagnostic> refuse_outputs(const Arguments& arguments);
/// Why a derivation must not be saved there: what stands there is none, and would be lost.
[[nodiscard]] std::optional<Diagnostic> refuse_derivation(const std::string& path);

/// Writes a file whole or not at all: to a temporary file beside it first, renamed when it is
/// complete. A link stays a link, permissions stay, a read-only file stays as it is. What is no
/// file (a pipe, a device, an open descriptor) is written directly.
[[nodiscard]] std::optional<Diagnostic> write_file(const std::string& path, std::string_view bytes);
/// To the file when `path` names one, else to standard output.
[[nodiscard]] std::optional<Diagnostic> write_data(const std::string& path, std::string_view bytes);
/// Makes a folder and its parents.
[[nodiscard]] std::optional<Diagnostic> make_folder(const std::string& path);

}  // namespace napkin::cli
