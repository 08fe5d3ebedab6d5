#include "perfmodel/wrapped_formula.h"

#include <limits>

namespace napkin {
namespace {

bool is_one_of(char c, std::string_view letters) {
    return letters.find(c) != std::string_view::npos;
}

/// Where the first line ends: in outer brackets rather than in inner ones, there between arguments
/// rather than in a sum or a product, and as late as that can be.
std::size_t end_of_line(std::string_view text, std::size_t columns) {
    std::size_t end = text.size();
    if (end <= columns) return end;
    int depth = 0;
    int least = std::numeric_limits<int>::max();
    for (std::size_t at = 1; at < text.size() && (at <= columns || end == text.size()); ++at) {
        if (text[at] == '(') ++depth;
        if (text[at] == ')') --depth;
        const bool in_product = is_one_of(text[at], "*/");
        const bool after_sign = is_one_of(text[at - 1], "+-");
        if (!in_product && (text[at] != ' ' || after_sign)) continue;
        const bool after_comma = text[at - 1] == ',';
        const int cost = 3 * depth + (in_product ? 2 : after_comma ? 0 : 1);
        if (cost > least) continue;
        least = cost;
        end = at;
    }
    return end;
}

}  // namespace

std::vector<std::string> wrapped_formula(std::string_view text, std::size_t columns) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = end_of_line(text, columns);
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(end < text.size() && text[end] == ' ' ? end + 1 : end);
    }
    return lines;
}

}  // namespace napkin
