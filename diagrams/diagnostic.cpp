// What the user sees of a diagnostic: a heading with the place, the line of the source with carets
// under it, the related places, the fix. Tabs become one space and lines longer than kWindow
// columns are cut around the caret, so that carets stand under what they mean.
#include "diagrams/diagnostic.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace napkin {

namespace {

constexpr std::size_t kWindow = 100;      // columns of a source line that are shown
constexpr std::size_t kBeforeCaret = 40;  // of them left of the caret when the line is cut
constexpr std::string_view kCut = "...";

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kRed = "\x1b[1;31m";
constexpr std::string_view kYellow = "\x1b[1;33m";
constexpr std::string_view kGreen = "\x1b[1;32m";
constexpr std::string_view kReset = "\x1b[0m";

struct Painter {
    bool color = false;
    [[nodiscard]] std::string operator()(std::string_view paint, std::string_view text) const {
        if (!color) return std::string(text);
        return std::string(paint) + std::string(text) + std::string(kReset);
    }
};

/// Bytes that a terminal can be shown as they are; control characters and broken UTF-8 are not.
bool is_plain(std::string_view character) {
    const auto lead = static_cast<unsigned char>(character.front());
    if (lead < 0x80) return lead >= 0x20 && lead != 0x7F;
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
    return length == character.size();
}

/// The source characters of `line`, from column `first` on, at most `count` of them.
std::string columns(std::string_view line, std::size_t first, std::size_t count) {
    std::string shown;
    std::size_t column = 0;
    for (std::size_t at = 0; at < line.size() && column < first + count; ++column) {
        std::size_t next = at + 1;
        while (next < line.size() && !starts_code_point(line[next])) ++next;
        const std::string_view character = line.substr(at, next - at);
        if (column >= first) {
            if (character == "\t") {
                shown += ' ';
            } else if (character == "\n" || is_plain(character)) {
                shown += character;
            } else {
                shown += '?';
            }
        }
        at = next;
    }
    return shown;
}

/// What a message quotes of a source may be any bytes, too.
std::string shown(std::string_view text) {
    return columns(text, 0, text.size());
}

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

/// The line of the label with carets under its span (up to the end of that line) and its remark.
std::string snippet(const Label& label, const SourceMap& sources, const Painter& paint,
                    std::string_view color) {
    std::string_view line = sources.line_of(label.span);
    const SourceFile& file = sources.files[label.span.file];
    const auto line_start = static_cast<std::size_t>(line.data() - file.text.data());
    const std::size_t begin =
        std::clamp<std::size_t>(label.span.begin, line_start, line_start + line.size()) -
        line_start;
    const std::size_t end =
        std::clamp<std::size_t>(label.span.end, line_start + begin, line_start + line.size()) -
        line_start;
    const std::size_t skipped =
        line_start == 0 && begin_of(line) > 0 && begin >= begin_of(line) ? 1 : 0;
    const std::size_t column = width_of(line.substr(0, begin));
    const std::size_t carets = std::max<std::size_t>(width_of(line.substr(begin, end - begin)), 1);
    const std::size_t width = width_of(line);

    std::size_t first = skipped;
    if (width > kWindow && column > kBeforeCaret + skipped)
        first = std::min(column - kBeforeCaret, width > kWindow ? width - kWindow : 0);
    first = std::min(std::max(first, skipped), column);
    const std::string left(first > skipped ? kCut : "");
    const std::string right(width > first + kWindow ? kCut : "");
    const std::size_t room = first + kWindow > column ? first + kWindow - column : 1;

    std::string text = "  " + left + columns(line, first, kWindow) + right + "\n  ";
    text += std::string(left.size() + column - first, ' ');
    text += paint(color, std::string(std::min(carets, room), '^'));
    if (!label.text.empty()) text += " " + paint(color, shown(label.text));
    return text + "\n";
}

}  // namespace

bool Diagnostics::has_errors() const {
    return std::any_of(list.begin(), list.end(), [](const Diagnostic& diagnostic) {
        return diagnostic.severity == Severity::Error;
    });
}

Diagnostic plain_error(std::string code, std::string message, std::string help, Failure failure) {
    Diagnostic diagnostic;
    diagnostic.code = std::move(code);
    diagnostic.message = std::move(message);
    diagnostic.help = std::move(help);
    diagnostic.failure = failure;
    diagnostic.has_place = false;
    return diagnostic;
}

std::string render(const Diagnostic& diagnostic, const SourceMap& sources, bool color) {
    const Painter paint{color};
    const bool is_error = diagnostic.severity == Severity::Error;
    const std::string_view tint = is_error ? kRed : kYellow;
    const bool has_place =
        diagnostic.has_place && diagnostic.primary.span.file < sources.files.size();

    std::string text;
    if (has_place) text += paint(kBold, sources.describe(diagnostic.primary.span) + ":") + " ";
    text += paint(tint, std::string(is_error ? "error" : "warning") + "[" + diagnostic.code + "]");
    text += paint(kBold, ": " + shown(diagnostic.message)) + "\n";
    if (has_place) text += snippet(diagnostic.primary, sources, paint, tint);
    for (const Label& label : diagnostic.related) {
        if (label.span.file >= sources.files.size()) continue;
        text += sources.describe(label.span) + ": note: " + shown(label.text) + "\n";
        text += snippet({label.span, ""}, sources, paint, kBold);
    }
    if (!diagnostic.help.empty())
        text += paint(kGreen, "help") + ": " + shown(diagnostic.help) + "\n";
    return text;
}

}  // namespace napkin
