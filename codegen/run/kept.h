// Results kept on disk under everything that they depend on, so that nothing is made twice.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace napkin {

/// What was kept in a folder under exactly this key; nothing where an entry is damaged or another
/// key's.
[[nodiscard]] std::optional<std::string> find_kept(const std::filesystem::path& folder,
                                                   const std::string& key);
/// Keeps a value under a key. A folder that cannot be written only costs time.
void keep(const std::filesystem::path& folder, const std::string& key, const std::string& value);

/// Tells this build of the program from others: a key of what its code decides has it. Empty where
/// the system does not say.
[[nodiscard]] std::string this_build();

}  // namespace napkin
