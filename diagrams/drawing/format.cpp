#include "diagrams/drawing/layout.h"
#include "diagrams/drawing/messages.h"
#include "diagrams/drawing/render.h"

namespace napkin::drawing {

namespace {

constexpr double kPointsPerInch = 72;
constexpr double kPixelsPerInch = 96;  // as browsers count

}  // namespace

Result<Format> format_of(std::string_view file_name) {
    const std::size_t slash = file_name.rfind('/');
    const std::string_view name =
        slash == std::string_view::npos ? file_name : file_name.substr(slash + 1);
    const std::size_t dot = name.rfind('.');
    // `.svg` is a hidden file without an ending.
    const std::string_view ending =
        dot == std::string_view::npos || dot == 0 ? std::string_view() : name.substr(dot + 1);
    if (ending == "svg") return Format::Svg;
    if (ending == "pdf") return Format::Pdf;
    if (ending == "png") return Format::Png;
    if (ending == "txt") return Format::Text;
    if (ending == "tex") return Format::Tikz;
    return unknown_format(std::string(file_name));
}

Result<Format> graphic_format_of(std::string_view file_name) {
    const Result<Format> format = format_of(file_name);
    if (format && *format == Format::Text) return no_text_picture(std::string(file_name));
    return format;
}

std::optional<Font> font_named(std::string_view name) {
    if (name == "embed") return Font::Embed;
    if (name == "none") return Font::None;
    return std::nullopt;
}

double units_in_point(Format format) {
    switch (format) {
    case Format::Svg:
    case Format::Png: return kPixelsPerInch / kPointsPerInch;
    case Format::Pdf:
    case Format::Tikz: return 1;
    case Format::Text: return 1 / kTerminalCell;
    }
    throw InternalError("unknown format");
}

}  // namespace napkin::drawing
