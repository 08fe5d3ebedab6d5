// Files as texts, of a size that people write.
#pragma once

#include <string>

#include "diagrams/result.h"

namespace napkin {

/// Files above this are refused: a `.ncd`, `.drv` or `.toml` is text that people write.
inline constexpr std::size_t kLargestText = std::size_t{1} << 26;
/// The bytes of a file, or the diagnostic that says why not.
[[nodiscard]] Result<std::string> text_of_file(const std::string& path,
                                               std::size_t largest = kLargestText);

/// E9001, which other readers of files have too.
[[nodiscard]] Diagnostic cannot_read(const std::string& path, const std::string& reason);

}  // namespace napkin
