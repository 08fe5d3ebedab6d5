// Pieces of a page: elements, templates, styles.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace napkin::cli {

/// An element on a line of its own.
[[nodiscard]] std::string element(const std::string& name, const std::string& inside,
                                  const std::string& attributes = "");
/// Nothing where there are no items.
[[nodiscard]] std::string list_of(const std::vector<std::string>& items,
                                  const std::string& attributes);
/// Text, escaped, in which what stands between backquotes is code.
[[nodiscard]] std::string with_code(const std::string& text);
/// The template with what stands for `@WORD@`.
[[nodiscard]] std::string filled(std::string_view text,
                                 const std::vector<std::pair<std::string, std::string>>& words);
/// Of every page: the themes' colours, and the report's styles.
[[nodiscard]] std::string page_style();

}  // namespace napkin::cli
