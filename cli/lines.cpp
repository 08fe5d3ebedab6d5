#include "cli/lines.h"

#include <sstream>
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

}  // namespace

std::string broken(const std::string& text, std::size_t columns) {
    std::string lines;
    std::size_t length = 0;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
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
