#include "cli/lsp/text.h"

#include <algorithm>

namespace napkin::lsp {
namespace {

/// Units of UTF-16 of the code point that a byte begins; a byte inside one has none.
std::int64_t units_at(char byte) {
    if (!starts_code_point(byte)) return 0;
    constexpr unsigned kFourBytes = 0xF0;  // beyond U+FFFF, which UTF-16 writes as two
    return static_cast<unsigned char>(byte) >= kFourBytes ? 2 : 1;
}

}  // namespace

Text::Text(std::string text) : text_(std::move(text)), starts_{0} {
    for (std::size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1))
        starts_.push_back(at + 1);
}

std::string_view Text::line(std::int64_t number) const {
    if (number < 0 || number >= static_cast<std::int64_t>(starts_.size())) return {};
    const std::size_t start = starts_[static_cast<std::size_t>(number)];
    const std::string_view line(text_.data() + start,
                                std::min(text_.find('\n', start), text_.size()) - start);
    return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

std::size_t Text::offset(const Position& position) const {
    if (position.line < 0) return 0;
    if (position.line >= static_cast<std::int64_t>(starts_.size())) return text_.size();
    const std::string_view line = this->line(position.line);
    std::size_t at = 0;
    std::int64_t units = 0;
    while (at < line.size()) {
        const std::int64_t next = units_at(line[at]);
        if (next > 0 && units + next > position.character) break;
        units += next;
        ++at;
    }
    return starts_[static_cast<std::size_t>(position.line)] + at;
}

Position Text::position(std::size_t offset) const {
    offset = std::min(offset, text_.size());
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
    const std::size_t line = static_cast<std::size_t>(after - starts_.begin()) - 1;
    Position position{static_cast<std::int64_t>(line), 0};
    for (std::size_t at = starts_[line]; at < offset; ++at)
        position.character += units_at(text_[at]);
    return position;
}

Range Text::range(const Span& span) const {
    return {position(span.begin), position(std::max(span.begin, span.end))};
}

Range Text::whole() const {
    return {{0, 0}, position(text_.size())};
}

}  // namespace napkin::lsp
