#include "cli/machine_picture.h"

#include <algorithm>

#include "diagrams/drawing/labels.h"

namespace napkin::cli {
namespace {

constexpr std::size_t kTitleWidth = 14;
constexpr std::size_t kLabelWidth = 12;

/// Words in lines of at most `width` bytes, where words are not longer.
std::vector<std::string> lines_of_words(const std::string& text, std::size_t width) {
    std::vector<std::string> lines;
    std::size_t from = 0;
    while (from < text.size()) {
        const std::size_t to = std::min(text.find(' ', from), text.size());
        const std::string word = text.substr(from, to - from);
        if (!lines.empty() && lines.back().size() + 1 + word.size() <= width)
            lines.back() += " " + word;
        else if (!word.empty())
            lines.push_back(word);
        from = to + 1;
    }
    return lines;
}

std::string in_lines(const std::string& text) {
    std::string result;
    for (const std::string& line : lines_of_words(text, kLabelWidth))
        result += (result.empty() ? "" : "\n") + line;
    return result;
}

std::string memory_of(const Machine& machine, Level level) {
    const auto found = machine.memories.find(level);
    return found == machine.memories.end() ? "" : in_lines(found->second);
}

bool has_tensor_core(const Machine& machine) {
    return std::any_of(machine.figures.begin(), machine.figures.end(),
                       [](const auto& entry) { return entry.first.starts_with("tensor_core."); });
}

}  // namespace

drawing::Hierarchy hierarchy_of(const Machine& machine) {
    drawing::Hierarchy hierarchy;
    hierarchy.title = lines_of_words(machine.title, kTitleWidth);
    const std::vector<Level> levels = machine.levels();
    for (const Level level : levels) {
        if (!hierarchy.levels.empty())
            hierarchy.edges.emplace_back(hierarchy.levels.size() - 1, hierarchy.levels.size());
        hierarchy.levels.push_back({in_lines(machine.level_titles.at(level)),
                                    memory_of(machine, level), drawing::color_of({level})});
    }
    if (has_tensor_core(machine) && levels.size() > 1) {
        // Left of the nearest level, and under what that is under.
        hierarchy.levels.insert(
            hierarchy.levels.end() - 1,
            {"Tensor\nCore", memory_of(machine, levels.back()), drawing::kTensorCoreColor});
        hierarchy.edges.emplace_back(levels.size() - 2, levels.size());
    }
    return hierarchy;
}

}  // namespace napkin::cli
