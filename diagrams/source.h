// Source texts and places in them. A Span is two byte offsets and a file; lines and columns are
// computed only when a message is printed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace napkin {

/// Whether a byte of UTF-8 begins a character.
inline bool starts_code_point(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

/// Where a text begins: behind a byte order mark, if there is one.
[[nodiscard]] std::size_t begin_of(std::string_view text);

/// Half-open byte range of a source text. Where a thing was written is not part of what it is:
/// spans compare equal.
struct Span {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t file = 0;  ///< index into SourceMap::files
    bool operator==(const Span&) const { return true; }
};

/// The smallest span that covers both; they must be of one file.
[[nodiscard]] Span cover(Span first, Span last);

/// A text the user (or the library) wrote, with the name shown in messages.
struct SourceFile {
    std::string name;
    std::string text;
};

/// One-based line and column (columns count Unicode code points, tabs as one).
struct LineColumn {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
};

/// Every source text of one run of the tool; spans point into it.
struct SourceMap {
    std::vector<SourceFile> files;

    /// Adds a text and returns the file index that its spans carry.
    std::uint32_t add(std::string name, std::string text);
    [[nodiscard]] LineColumn position(Span span) const;
    /// `attention.ncd:12:3`, as diagnostics, derivations and generated code print it.
    [[nodiscard]] std::string describe(Span span) const;
    /// The whole line, without its end, in which the span begins.
    [[nodiscard]] std::string_view line_of(Span span) const;
    [[nodiscard]] std::string_view text_of(Span span) const;
};

}  // namespace napkin
