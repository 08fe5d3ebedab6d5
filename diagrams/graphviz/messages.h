// Wording of what can be missing of Graphviz.
#pragma once

#include <string>

#include "diagrams/diagnostic.h"

namespace napkin::drawing {

[[nodiscard]] Diagnostic no_graphviz();
[[nodiscard]] Diagnostic no_plugin(const std::string& plugin);
[[nodiscard]] Diagnostic no_fonts();

}  // namespace napkin::drawing
