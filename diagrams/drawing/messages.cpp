#include "diagrams/drawing/messages.h"

namespace napkin::drawing {

Diagnostic unknown_format(const std::string& file_name) {
    return plain_error("E0801", "cannot tell what to draw from the name `" + file_name + "`",
                       "end it in .svg, .pdf, .png, .txt or .tex");
}

}  // namespace napkin::drawing
