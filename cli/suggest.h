// Suggestions as text and as JSON.
#pragma once

#include <string>

#include "search/suggest.h"

namespace napkin::cli {

/// How many moves are shown where nobody says.
inline constexpr std::size_t kMovesShown = 12;

[[nodiscard]] std::string text_of(const Suggestions& suggestions);

}  // namespace napkin::cli
