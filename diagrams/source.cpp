#include "diagrams/source.h"

#include <algorithm>
#include <utility>

#include "diagrams/result.h"

namespace napkin {

namespace {

const std::string& text_in(const SourceMap& sources, Span span) {
    invariant(span.file < sources.files.size(), "a span names a file that the source map lacks");
    return sources.files[span.file].text;
}

std::size_t offset_in(const std::string& text, Span span) {
    return std::min<std::size_t>(span.begin, text.size());
}

std::size_t line_begin(const std::string& text, std::size_t offset) {
    if (offset == 0) return 0;
    const std::size_t newline = text.rfind('\n', offset - 1);
    return newline == std::string::npos ? 0 : newline + 1;
}

}  // namespace

std::size_t begin_of(std::string_view text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    return text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
}

Span cover(Span first, Span last) {
    return {std::min(first.begin, last.begin), std::max(first.end, last.end), first.file};
}

std::uint32_t SourceMap::add(std::string name, std::string text) {
    files.push_back({std::move(name), std::move(text)});
    return static_cast<std::uint32_t>(files.size() - 1);
}

LineColumn SourceMap::position(Span span) const {
    const std::string& text = text_in(*this, span);
    const auto offset = static_cast<std::ptrdiff_t>(offset_in(text, span));
    std::size_t begin = line_begin(text, static_cast<std::size_t>(offset));
    const std::ptrdiff_t newlines = std::count(text.begin(), text.begin() + offset, '\n');
    if (begin == 0) begin = begin_of(text);
    const auto from = std::min(static_cast<std::ptrdiff_t>(begin), offset);
    const std::ptrdiff_t code_points =
        std::count_if(text.begin() + from, text.begin() + offset, starts_code_point);
    return {static_cast<std::uint32_t>(newlines + 1), static_cast<std::uint32_t>(code_points + 1)};
}

std::string SourceMap::describe(Span span) const {
    const LineColumn place = position(span);
    return files[span.file].name + ":" + std::to_string(place.line) + ":" +
           std::to_string(place.column);
}

std::string_view SourceMap::line_of(Span span) const {
    const std::string& text = text_in(*this, span);
    const std::size_t offset = offset_in(text, span);
    const std::size_t begin = line_begin(text, offset);
    std::size_t end = text.find('\n', offset);
    if (end == std::string::npos) end = text.size();
    if (end > begin && text[end - 1] == '\r') --end;
    return std::string_view(text).substr(begin, end - begin);
}

std::string_view SourceMap::text_of(Span span) const {
    const std::string& text = text_in(*this, span);
    const std::size_t begin = offset_in(text, span);
    const std::size_t end = std::clamp<std::size_t>(span.end, begin, text.size());
    return std::string_view(text).substr(begin, end - begin);
}

}  // namespace napkin
