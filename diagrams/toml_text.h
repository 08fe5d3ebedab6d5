// What readers of TOML files share: places in them, and texts that are shown.
#pragma once

#include <toml++/toml.h>

#include <algorithm>
#include <cctype>

#include "diagrams/source.h"

namespace napkin {

/// Byte offset of a line and column; columns count code points.
inline std::uint32_t toml_offset(std::string_view text, const toml::source_position& position) {
    std::size_t at = 0;
    for (std::uint32_t line = 1; line < position.line; ++line) {
        const std::size_t end = text.find('\n', at);
        if (end == std::string_view::npos) break;
        at = end + 1;
    }
    for (std::uint32_t column = 1; column < position.column && at < text.size(); ++column) {
        ++at;
        while (at < text.size() && !starts_code_point(text[at])) ++at;
    }
    return static_cast<std::uint32_t>(std::min(at, text.size()));
}

/// At least one character wide, unless the text ends there.
inline Span toml_place(std::string_view text, const toml::source_region& region,
                       std::uint32_t file) {
    const std::uint32_t begin = toml_offset(text, region.begin);
    const std::uint32_t end = std::max(toml_offset(text, region.end), begin + 1);
    return {begin, std::min(end, static_cast<std::uint32_t>(text.size())), file};
}

/// A text that tables and terminals can show; null for anything else.
inline const std::string* toml_line(const toml::node& node) {
    const auto* text = node.as_string();
    const auto is_control = [](unsigned char c) { return std::iscntrl(c) != 0; };
    if (text == nullptr || std::any_of(text->get().begin(), text->get().end(), is_control))
        return nullptr;
    return &text->get();
}

}  // namespace napkin
