// Files of every format: PDF and PNG are Graphviz' work, the others are written in drawing/.
#pragma once

#include <string>

#include "diagrams/drawing/render.h"

namespace napkin::drawing {

/// The file's contents. A diagnostic where Graphviz lacks the plugin for the format, or this
/// machine the fonts. `font` is asked of SVG alone: other formats hold letters of this machine's.
[[nodiscard]] Result<std::string> render_canvas(const Canvas& canvas, Format format,
                                                Theme theme = Theme::Paper,
                                                Font font = Font::Embed);
/// The drawing as a PNG of another resolution.
[[nodiscard]] Result<std::string> render_png(const Canvas& canvas, Theme theme,
                                             double pixels_in_point);

}  // namespace napkin::drawing
