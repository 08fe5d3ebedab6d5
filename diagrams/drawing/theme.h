// The colours of a picture, which a canvas names by those of paper.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "diagrams/drawing/canvas.h"

namespace napkin::drawing {

/// `Slides` are of bolder lines, `Contrast` keeps 6 to 1, `Dark` stands on a dark page.
enum class Theme { Paper, Slides, Contrast, Dark };
/// By name: `paper slides contrast dark`.
[[nodiscard]] std::optional<Theme> theme_named(std::string_view name);

/// What a colour of paper is in a theme; colours that no picture uses stay.
[[nodiscard]] Color shade(Color color, Theme theme);
/// What a colour of paper is called in style sheets, `block`; empty for others.
[[nodiscard]] std::string_view ink_name(Color color);
/// Every colour that has a name.
[[nodiscard]] std::vector<Color> all_inks();
[[nodiscard]] double line_scale(Theme theme);
/// Of a theme that does not leave it to the page.
[[nodiscard]] std::optional<Color> background(Theme theme);
/// The canvas in a theme's colours.
[[nodiscard]] Canvas themed(Canvas canvas, Theme theme);
/// Contrast of two colours, 1 to 21, as the guidelines for accessible content define it.
[[nodiscard]] double contrast(Color a, Color b);

}  // namespace napkin::drawing
