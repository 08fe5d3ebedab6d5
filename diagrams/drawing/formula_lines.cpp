#include "diagrams/drawing/formula_lines.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace napkin::drawing {

namespace {

constexpr std::size_t kLongestLine = 16;  // that is not broken
constexpr std::size_t kWidest = 26;
constexpr std::array<std::string_view, 4> kWords = {"\" then \"", "\" else \"", "\" and \"",
                                                    "\" or \""};

bool begins_word(std::string_view text) {
    return std::any_of(kWords.begin(), kWords.end(),
                       [&](std::string_view word) { return text.substr(0, word.size()) == word; });
}

/// Where a formula may go on in the next line.
struct Break {
    std::size_t at = 0;
    int depth = 0;  ///< of brackets
};

/// Signs and words, in no subscript and in no quotes.
std::vector<Break> breaks_of(std::string_view text) {
    std::vector<Break> found;
    int depth = 0;
    bool lowered = false;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (!quoted && i > 0 && begins_word(text.substr(i))) found.push_back({i, depth});
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        if (c == '(' || c == '[') ++depth;
        if (c == ')' || c == ']') --depth;
        if (c == '{' || c == '}') lowered = c == '{';
        const bool sign = std::string_view("+-*/%,<>=").find(c) != std::string_view::npos;
        const bool first = i == 0 || text[i - 1] == '(' || text[i - 1] == c;
        if (sign && !lowered && !first) found.push_back({c == ',' ? i + 1 : i, depth});
    }
    return found;
}

/// The break outside most brackets that is nearest to the middle; the text's end where there is
/// none.
std::size_t best_break(std::string_view text) {
    const auto off_middle = [&](std::size_t at) {
        return at > text.size() / 2 ? at - text.size() / 2 : text.size() / 2 - at;
    };
    const std::vector<Break> breaks = breaks_of(text);
    const auto best =
        std::min_element(breaks.begin(), breaks.end(), [&](const Break& a, const Break& b) {
            return std::pair(a.depth, off_middle(a.at)) < std::pair(b.depth, off_middle(b.at));
        });
    return best == breaks.end() ? text.size() : best->at;
}

/// Without blanks, which are narrow.
std::size_t shown_length(const std::string& text) {
    const std::string shown = to_unicode(parse_math(text));
    return columns_in(shown) -
           static_cast<std::size_t>(std::count(shown.begin(), shown.end(), ' '));
}

/// Without the blank of a word or a comma at a line's beginning.
std::string without_blank(std::string text) {
    if (text.compare(0, 3, "\" \"") == 0) return text.substr(3);
    if (text.compare(0, 2, "\" ") == 0) text.erase(1, 1);
    return text;
}

void break_formula(const std::string& text, std::vector<std::string>& lines) {
    const std::size_t at = shown_length(text) > kLongestLine ? best_break(text) : text.size();
    if (at == text.size()) {
        lines.push_back(without_blank(text));
        return;
    }
    break_formula(text.substr(0, at), lines);
    break_formula(text.substr(at), lines);
}

}  // namespace

std::vector<MathText> formula_lines(const std::string& text) {
    std::vector<std::string> lines;
    if (!text.empty()) break_formula(text, lines);
    const bool fits = lines.size() <= kMostLines &&
                      std::all_of(lines.begin(), lines.end(), [](const std::string& line) {
                          return shown_length(line) <= kWidest;
                      });
    std::vector<MathText> labels;
    for (std::size_t i = 0; fits && i < lines.size(); ++i) labels.push_back(parse_math(lines[i]));
    return labels;
}

}  // namespace napkin::drawing
