// Files that commands read and write. Results are written whole or not at all, and never over what
// a command reads or a person wrote.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "diagrams/result.h"

namespace napkin::cli {

/// Files above this are refused: a `.ncd` or `.drv` is text that people write.
inline constexpr std::size_t kLargestText = std::size_t{1} << 26;
/// The bytes of a file, or the diagnostic that says why not.
[[nodiscard]] Result<std::string> read_file(const std::string& path,
                                            std::size_t largest = kLargestText);

/// Why a command must not write where its arguments say: to a file that it reads (by whatever
/// name), or over a diagram, derivation or quiz with something else.
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
