// Wording of what can go wrong while drawing.
#pragma once

#include <string>

#include "diagrams/diagnostic.h"

namespace napkin::drawing {

[[nodiscard]] Diagnostic unknown_format(const std::string& file_name);
[[nodiscard]] Diagnostic no_text_picture(const std::string& file_name);

}  // namespace napkin::drawing
