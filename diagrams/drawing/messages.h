// Wording of what can go wrong while drawing.
#pragma once

#include <string>

#include "diagrams/diagnostic.h"

namespace napkin::drawing {

[[nodiscard]] Diagnostic unknown_format(const std::string& file_name);
[[nodiscard]] Diagnostic no_graphviz();
[[nodiscard]] Diagnostic no_plugin(const std::string& plugin);
[[nodiscard]] Diagnostic no_fonts();

}  // namespace napkin::drawing
