// Folders and files of the running program: where it is, where it keeps what it made, and files
// that appear whole or not at all.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "diagrams/result.h"

namespace napkin {

/// `$XDG_CACHE_HOME/napkin` or `~/.cache/napkin`; a folder in the system's temporary one without
/// either.
[[nodiscard]] std::filesystem::path cache_folder();
/// The folder of the running executable; empty where the system does not say.
[[nodiscard]] std::filesystem::path executable_folder();
[[nodiscard]] std::optional<std::string> read_file(const std::filesystem::path& path);
/// Writes beside the target and renames, creating folders on the way.
[[nodiscard]] std::optional<Diagnostic> write_file_whole(const std::filesystem::path& path,
                                                         const std::string& text);
/// 16 hexadecimal digits of a 64-bit FNV-1a hash.
[[nodiscard]] std::string hash_text(const std::string& text);

}  // namespace napkin
