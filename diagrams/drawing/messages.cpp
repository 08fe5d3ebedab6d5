#include "diagrams/drawing/messages.h"

namespace napkin::drawing {

Diagnostic unknown_format(const std::string& file_name) {
    return plain_error("E0801", "cannot tell what to draw from the name `" + file_name + "`",
                       "end it in .svg, .pdf, .png, .txt or .tex");
}

Diagnostic no_text_picture(const std::string& file_name) {
    return plain_error("E0804", "`" + file_name + "` would show a plot, which has no form as text",
                       "end it in .svg, .pdf, .png or .tex; the numbers are printed without `-o`");
}

}  // namespace napkin::drawing
