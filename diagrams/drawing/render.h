// From a canvas to a file's bytes. The same canvas always gives the same bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "diagrams/drawing/canvas.h"
#include "diagrams/drawing/theme.h"
#include "diagrams/result.h"

namespace napkin::drawing {

enum class Format { Svg, Pdf, Png, Text, Tikz };
/// By the ending of a file name: `svg pdf png txt tex`; a diagnostic otherwise.
[[nodiscard]] Result<Format> format_of(std::string_view file_name);
/// Likewise of what characters cannot show, as a plot: no `txt`.
[[nodiscard]] Result<Format> graphic_format_of(std::string_view file_name);

/// What a point of a canvas is in the units of a file: pixels of SVG and PNG, points of PDF and
/// TeX, columns of text.
[[nodiscard]] double units_in_point(Format format);

/// Whether an SVG carries the letters that its text is set in, some 15 kB a face, or leaves them to
/// the reader's fonts.
enum class Font { Embed, None };
/// By name: `embed none`.
[[nodiscard]] std::optional<Font> font_named(std::string_view name);

/// The drawing as SVG in the theme's colours, which a page may override (`--napkin-block`).
[[nodiscard]] std::string render_svg(const Canvas& canvas, Theme theme = Theme::Paper,
                                     Font font = Font::Embed);
/// The drawing as an element of a page that has `svg_rules` among its styles: without a size, a
/// page, ids or colours of its own, places in tenths of a point.
[[nodiscard]] std::string render_svg_part(const Canvas& canvas);
/// What such elements are set in and painted by: letters, and a rule an ink, by variables.
[[nodiscard]] std::string svg_rules();
/// The variables in a theme's colours: `--napkin-block:#b86800;...`.
[[nodiscard]] std::string svg_variables(Theme theme);
/// The drawing in box-drawing characters; draw it for Medium::Terminal.
[[nodiscard]] std::string render_text(const Canvas& canvas, bool color = false);
/// The column of a terminal that a place is in, and that in which a text begins.
[[nodiscard]] int column_at(double x);
[[nodiscard]] int first_column(const Text& text);
/// A `tikzpicture` in a document of its own.
[[nodiscard]] std::string render_tikz(const Canvas& canvas);

}  // namespace napkin::drawing
