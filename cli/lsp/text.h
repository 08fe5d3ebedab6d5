// A text as editors see it: lines from 0, columns in units of UTF-16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diagrams/source.h"

namespace napkin::lsp {

struct Position {
    std::int64_t line = 0;
    std::int64_t character = 0;
    bool operator==(const Position&) const = default;
};

struct Range {
    Position start;
    Position end;
    bool operator==(const Range&) const = default;
};

class Text {
public:
    explicit Text(std::string text);

    [[nodiscard]] const std::string& bytes() const { return text_; }
    /// The byte offset; a place behind a line's end, or behind the last line, is that end.
    [[nodiscard]] std::size_t offset(const Position& position) const;
    [[nodiscard]] Position position(std::size_t offset) const;
    [[nodiscard]] Range range(const Span& span) const;
    /// Everything.
    [[nodiscard]] Range whole() const;
    /// A line without its end.
    [[nodiscard]] std::string_view line(std::int64_t number) const;

private:
    std::string text_;
    std::vector<std::size_t> starts_;  ///< of lines
};

}  // namespace napkin::lsp
