#include "diagrams/nearest.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace napkin {

namespace {

constexpr std::size_t kLongestWord = 64;  // longer words are not compared: the table is quadratic

int replacement_cost(char a, char b) {
    if (a == b) return 0;
    const bool same_letter =
        std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    return same_letter ? 1 : 2;
}

/// Twice the number of edits, so that a difference of case can count as half of one.
int edit_distance(std::string_view a, std::string_view b) {
    const std::size_t width = b.size() + 1;
    std::vector<int> table((a.size() + 1) * width);
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            int& cell = table[i * width + j];
            if (i == 0 || j == 0) {
                cell = static_cast<int>(2 * (i + j));
                continue;
            }
            cell =
                std::min({table[(i - 1) * width + j] + 2, table[i * width + j - 1] + 2,
                          table[(i - 1) * width + j - 1] + replacement_cost(a[i - 1], b[j - 1])});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) cell = std::min(cell, table[(i - 2) * width + j - 2] + 2);
        }
    }
    return table.back();
}

}  // namespace

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
    if (word.empty() || word.size() > kLongestWord) return std::nullopt;
    std::optional<std::string> best;
    // One edit in a word of up to three letters, two up to six, then a third of its length.
    int limit = 2 * static_cast<int>(std::max<std::size_t>((word.size() + 2) / 3, 1));
    if (word.size() == 1) limit = 1;
    for (const std::string& candidate : candidates) {
        if (candidate.size() > kLongestWord) continue;
        const int distance = edit_distance(word, candidate);
        if (distance > limit || (best && distance == limit)) continue;
        best = candidate;
        limit = distance;
    }
    return best;
}

}  // namespace napkin
