// Terminals of a locale without UTF-8: signs that are not ASCII have stand-ins.
#pragma once

#include <string>
#include <string_view>

namespace napkin::cli {

/// Whether the locale of the environment writes UTF-8.
[[nodiscard]] bool writes_utf8();
/// The text with the signs that this program prints in ASCII; others, which are the user's, stay.
/// Where a stand-in is longer than its sign, it takes room from blanks after it.
[[nodiscard]] std::string in_ascii(std::string_view text);

}  // namespace napkin::cli
