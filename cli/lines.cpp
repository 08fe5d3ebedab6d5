#include "cli/lines.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "cli/numbers.h"

namespace napkin::cli {
namespace {

constexpr std::size_t kRoom = 30;  // columns that a text is broken into at the least

/// Where the columns of a line begin.
std::vector<std::size_t> starts_of(const std::string& line) {
    std::vector<std::size_t> starts;
    for (std::size_t at = 0; at < line.size(); ++at)
        if (line[at] != ' ' &&
            (at == 0 || (line[at - 1] == ' ' && (at == 1 || line[at - 2] == ' '))))
            starts.push_back(at);
    return starts;
}

std::string without_end(const std::string& text) {
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

/// A text behind another, broken, its lines below each other.
std::string hanging(const std::string& before, const std::string& text, std::size_t indent,
                    std::size_t columns) {
    std::string lines = before;
    for (const char c : broken(text, columns - indent))
        lines += c == '\n' ? "\n" + std::string(indent, ' ') : std::string(1, c);
    return lines;
}

std::string fitted_line(const std::string& line, std::size_t columns) {
    const std::vector<std::size_t> starts = starts_of(line);
    if (width_of(line) <= columns || starts.empty()) return line;
    const auto before = [&](std::size_t column) { return line.substr(0, starts[column]); };
    const std::string last = before(starts.size() - 1);
    const std::string text = line.substr(last.size());
    const std::size_t deeper = starts.front() + 2;
    if (starts.size() == 1) return hanging(last, text, deeper, columns);
    if (width_of(last) + kRoom <= columns) return hanging(last, text, width_of(last), columns);
    std::size_t cut = starts.size() - 1;
    while (cut > 1 && width_of(without_end(before(cut))) > columns) --cut;
    const std::size_t second = width_of(before(1));
    const std::string below(second + kRoom <= columns ? second : deeper, ' ');
    return fitted_line(without_end(before(cut)), columns) + "\n" +
           fitted_line(below + line.substr(starts[cut]), columns);
}

bool has(const std::string& word, const char* part) {
    return word.find(part) != std::string::npos;
}

/// Where the first part of a word ends that is wider than its line: before a sign of a product,
/// else behind a `_`, else where the line ends.
std::size_t end_of_part(const std::string& word, std::size_t columns) {
    constexpr std::string_view kDot = "·";
    std::size_t sign = 0;
    std::size_t joint = 0;
    std::size_t at = 1;
    for (; at < word.size() && width_of(word.substr(0, at)) <= columns; ++at) {
        if (word.compare(at, kDot.size(), kDot) == 0 || word[at] == '/' || word[at] == '*')
            sign = at;
        if (word[at - 1] == '_') joint = at;
    }
    if (sign > 0) return sign;
    return joint > 0 ? joint : std::max<std::size_t>(at - 1, 1);
}

/// The words of a text. One that is wider than a line is several, but for a path.
std::vector<std::string> words_of(const std::string& text, std::size_t columns) {
    std::vector<std::string> words;
    std::istringstream rest(text);
    for (std::string word; rest >> word;) {
        const bool is_path = has(word, "/") && !has(word, "·");
        while (!is_path && width_of(word) > columns) {
            const std::size_t end = end_of_part(word, columns);
            words.push_back(word.substr(0, end));
            word.erase(0, end);
        }
        words.push_back(word);
    }
    return words;
}

}  // namespace

std::string broken(const std::string& text, std::size_t columns) {
    std::string lines;
    std::size_t length = 0;
    for (const std::string& word : words_of(text, columns)) {
        const std::size_t width = width_of(word);
        const bool fits = length + 1 + width <= columns;
        if (length > 0) lines += fits ? ' ' : '\n';
        length = length > 0 && fits ? length + 1 + width : width;
        lines += word;
    }
    return lines;
}

std::string fitted(const std::string& text, std::size_t columns) {
    std::string lines;
    std::istringstream rest(text);
    for (std::string line; std::getline(rest, line);) lines += fitted_line(line, columns) + "\n";
    return lines;
}

void print_lines(const std::string& text) {
    print_data(fitted(text, static_cast<std::size_t>(terminal_width())));
}

}  // namespace napkin::cli
