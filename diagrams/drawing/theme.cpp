#include "diagrams/drawing/theme.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "diagrams/overloaded.h"

namespace napkin::drawing {

namespace {

struct Ink {
    std::string_view name;
    Color paper;
    Color contrast;
    Color dark;
};

// clang-format off
constexpr std::array kInks = {
    Ink{"device",        kBlack,           0x000000, 0xE8E8E8},
    Ink{"block",         kBlockColor,      0x7A4200, 0xFFB454},
    Ink{"thread",        kThreadColor,     0x2A5A00, 0x9BE04E},
    Ink{"tensor-core",   kTensorCoreColor, 0x005B4E, 0x5BE5CC},
    Ink{"cluster",       kClusterColor,    0xA00012, 0xFF7A7A},
    Ink{"cache",         kCacheColor,      0x4D4D4D, 0xABABAB},
    Ink{"remark",        kGrey,            0x4A4A4A, 0xA6ACB2},
    Ink{"name",          kNameColor,       0x333333, 0xB8BDC2},
    Ink{"page",          kWhite,           0xFFFFFF, 0x16191D},
    Ink{"load",          kLoadFill,        0xE6FFFA, 0x12403A},
    Ink{"save",          kSaveFill,        0xFCEBFE, 0x4A1F50},
    Ink{"sub-algorithm", kSubAlgorithmFill, 0xFEFCDF, 0x3D3A12},
    Ink{"hidden",        kHiddenFill,      0xA0A0A0, 0x5C636A},
};
// clang-format on

const Ink* find_ink(Color color) {
    const auto* found = std::find_if(kInks.begin(), kInks.end(),
                                     [&](const Ink& ink) { return ink.paper == color; });
    return found == kInks.end() ? nullptr : found;
}

/// Relative luminance, 0 to 1.
double luminance(Color color) {
    const auto part = [&](unsigned shift) {
        const double value = ((color >> shift) & 0xFFU) / 255.0;
        return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0);
}

}  // namespace

std::optional<Theme> theme_named(std::string_view name) {
    if (name == "paper") return Theme::Paper;
    if (name == "slides") return Theme::Slides;
    if (name == "contrast") return Theme::Contrast;
    if (name == "dark") return Theme::Dark;
    return std::nullopt;
}

Color shade(Color color, Theme theme) {
    const Ink* ink = find_ink(color);
    if (ink == nullptr) return color;
    switch (theme) {
    case Theme::Paper:
    case Theme::Slides: return ink->paper;
    case Theme::Contrast: return ink->contrast;
    case Theme::Dark: return ink->dark;
    }
    return color;
}

std::vector<Color> all_inks() {
    std::vector<Color> inks;
    for (const Ink& ink : kInks) inks.push_back(ink.paper);
    return inks;
}

std::string_view ink_name(Color color) {
    const Ink* ink = find_ink(color);
    return ink == nullptr ? std::string_view() : ink->name;
}

double line_scale(Theme theme) {
    return theme == Theme::Slides ? 1.8 : theme == Theme::Contrast ? 1.4 : 1;
}

std::optional<Color> background(Theme theme) {
    return theme == Theme::Dark ? std::optional(shade(kWhite, theme)) : std::nullopt;
}

Canvas themed(Canvas canvas, Theme theme) {
    const auto stroke = [&](Stroke& pen) {
        pen.color = shade(pen.color, theme);
        pen.width *= line_scale(theme);
    };
    const auto fill = [&](std::optional<Color>& color) {
        if (color) color = shade(*color, theme);
    };
    for (Operation& operation : canvas.operations)
        std::visit(overloaded{
                       [&](Line& line) { stroke(line.stroke); },
                       [&](Polygon& polygon) {
                           stroke(polygon.stroke);
                           fill(polygon.fill);
                       },
                       [&](Boxes& boxes) { boxes.fill = shade(boxes.fill, theme); },
                       [&](Dot& dot) {
                           stroke(dot.stroke);
                           fill(dot.fill);
                       },
                       [&](Text& text) { text.color = shade(text.color, theme); },
                   },
                   operation.shape);
    if (const std::optional<Color> page = background(theme)) {
        Canvas behind;
        behind.rectangle({0, 0, canvas.width, canvas.height}, page, {*page, 0, Dash::Solid},
                         Part::Tint);
        canvas.operations.insert(canvas.operations.begin(), behind.operations.front());
    }
    return canvas;
}

double contrast(Color a, Color b) {
    const auto [dark, light] = std::minmax({luminance(a), luminance(b)});
    return (light + 0.05) / (dark + 0.05);
}

}  // namespace napkin::drawing
