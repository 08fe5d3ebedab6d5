// Short names for axes and arrays, where a picture has no room for whole ones.
#pragma once

#include <map>
#include <string>

#include "diagrams/diagram.h"

namespace napkin::drawing {

/// By whole name: of every name longer than `longest` the first letters of its words,
/// `input_array_number1` as `ian1`, or of its only word the beginning; all names stay different.
[[nodiscard]] std::map<std::string, std::string> short_names(const Diagram& diagram,
                                                             std::size_t longest);
/// The diagram with other names.
[[nodiscard]] Diagram renamed(Diagram diagram, const std::map<std::string, std::string>& names);

}  // namespace napkin::drawing
