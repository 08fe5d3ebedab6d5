// The known word that a misspelt one was probably meant to be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace napkin {

/// The candidate with the fewest edits to `word` (insert, delete, replace, swap neighbours; case
/// counts half), the earliest of equals; nullopt where none is close enough to be a likely slip.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word,
                                                 const std::vector<std::string>& candidates);

}  // namespace napkin
