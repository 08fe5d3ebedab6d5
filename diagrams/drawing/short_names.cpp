#include "diagrams/drawing/short_names.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

namespace napkin::drawing {

namespace {

bool is_digit(char sign) {
    return sign >= '0' && sign <= '9';
}

/// `letters` of each word, and the number that the name ends in.
std::string initials(std::string_view name, std::size_t letters) {
    std::size_t number = name.size();
    while (number > 0 && is_digit(name[number - 1])) --number;
    std::string text;
    std::size_t taken = 0;
    for (const char sign : name.substr(0, number)) {
        if (sign == '_')
            taken = 0;
        else if (taken++ < letters)
            text += sign;
    }
    return text + std::string(name.substr(number));
}

}  // namespace

std::map<std::string, std::string> short_names(const Diagram& diagram, std::size_t longest) {
    std::set<std::string> whole;
    for (const Axis& axis : diagram.axes) whole.insert(axis.name);
    for (const Array& array : diagram.arrays) whole.insert(array.name);
    std::set<std::string> taken = whole;
    std::map<std::string, std::string> names;
    for (const std::string& name : whole) {
        if (name.size() <= longest) continue;
        const bool has_words = name.find('_') != std::string::npos;
        for (std::size_t letters = has_words ? 1 : longest; letters < name.size(); ++letters) {
            const std::string shorter = initials(name, letters);
            if (shorter.size() >= name.size() || !taken.insert(shorter).second) continue;
            names[name] = shorter;
            break;
        }
    }
    return names;
}

Diagram renamed(Diagram diagram, const std::map<std::string, std::string>& names) {
    const auto rename = [&](std::string& name) {
        if (const auto found = names.find(name); found != names.end()) name = found->second;
    };
    for (Axis& axis : diagram.axes) rename(axis.name);
    for (Array& array : diagram.arrays) rename(array.name);
    return diagram;
}

}  // namespace napkin::drawing
