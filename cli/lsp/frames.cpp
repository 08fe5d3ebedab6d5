#include "cli/lsp/frames.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>

namespace napkin::lsp {
namespace {

constexpr std::string_view kLength = "content-length:";

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// A number and nothing else but blanks.
std::optional<std::size_t> number_in(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    std::size_t value = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    if (text.empty() || parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
    return value;
}

}  // namespace

Frame read_frame(std::istream& in) {
    std::optional<std::size_t> length;
    bool any = false;
    for (std::string line; std::getline(in, line);) {
        if (line.ends_with('\r')) line.pop_back();
        if (line.empty()) {
            if (!any) continue;
            break;
        }
        any = true;
        if (lower(line).starts_with(kLength)) length = number_in(line.substr(kLength.size()));
    }
    if (!in) return EndOfInput{};
    if (!length) return BrokenFrame{"a header without a Content-Length that is a number"};
    if (*length > kLongestMessage) {
        in.ignore(static_cast<std::streamsize>(
            std::min<std::size_t>(*length, std::numeric_limits<std::streamsize>::max() - 1)));
        return BrokenFrame{"a message of " + std::to_string(*length) + " bytes"};
    }
    std::string message(*length, '\0');
    in.read(message.data(), static_cast<std::streamsize>(*length));
    if (static_cast<std::size_t>(in.gcount()) < *length) return EndOfInput{};
    return message;
}

std::string framed(const std::string& message) {
    return "Content-Length: " + std::to_string(message.size()) + "\r\n\r\n" + message;
}

}  // namespace napkin::lsp
