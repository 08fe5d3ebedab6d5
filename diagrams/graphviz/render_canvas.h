// Files of every format: PDF and PNG are Graphviz' work, the others are written in drawing/.
#pragma once

#include <string>

#include "diagrams/drawing/render.h"

namespace napkin::drawing {

/// The file's contents. A diagnostic where Graphviz lacks the plugin for the format, or this
/// machine the fonts.
[[nodiscard]] Result<std::string> render_canvas(const Canvas& canvas, Format format,
                                                Theme theme = Theme::Paper);

}  // namespace napkin::drawing
