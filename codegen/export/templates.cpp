#include "codegen/export/templates.h"

#include <cctype>
#include <sstream>

#include "diagrams/result.h"

namespace napkin::exporting {
namespace {

/// The end of a place that starts at `at`, which is an `@`; npos where it is none.
std::size_t end_of_place(const std::string& line, std::size_t at) {
    std::size_t end = at + 1;
    while (end < line.size() &&
           (std::isalpha(static_cast<unsigned char>(line[end])) != 0 || line[end] == '_'))
        ++end;
    return end > at + 1 && end < line.size() && line[end] == '@' ? end : std::string::npos;
}

std::string filled_line(const std::string& line, const std::map<std::string, std::string>& places) {
    std::string result;
    std::size_t from = 0;
    for (std::size_t at = line.find('@'); at != std::string::npos; at = line.find('@', at + 1)) {
        const std::size_t end = end_of_place(line, at);
        if (end == std::string::npos) continue;
        const std::string name = line.substr(at + 1, end - at - 1);
        const auto filling = places.find(name);
        invariant(filling != places.end(), "nothing fills the place ", name);
        result += line.substr(from, at - from) + filling->second;
        from = end + 1;
        at = end;
    }
    return result + line.substr(from);
}

}  // namespace

std::string fill(const std::string& text, const std::map<std::string, std::string>& places) {
    std::string result;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        const std::string filled = filled_line(line, places);
        const bool only_place = !line.empty() && line.front() == '@' && line.back() == '@';
        if (filled.empty() && only_place) continue;
        result += filled;
        if (filled.empty() || filled.back() != '\n') result += '\n';
    }
    return result;
}

}  // namespace napkin::exporting
