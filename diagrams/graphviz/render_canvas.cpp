// Graphviz draws what was laid out here: a graph of two pinned invisible corners, with the picture
// as its background, under the layout that only accepts positions.

#include "diagrams/graphviz/render_canvas.h"

#include <fmt/format.h>
#include <fontconfig/fontconfig.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "diagrams/graphviz/graph.h"
#include "diagrams/graphviz/messages.h"
#include "diagrams/graphviz/xdot.h"

namespace napkin::drawing {

namespace {

/// Width, height, scale and centre, in hundredths of a point that halve exactly.
std::string page(const Canvas& canvas) {
    const double width = std::ceil(canvas.width * 50) / 50;
    const double height = std::ceil(canvas.height * 50) / 50;
    return fmt::format("{:.2f},{:.2f},1,{:.2f},{:.2f}", width, height, width / 2, height / 2);
}

void add_corner(Agraph_t* graph, const char* name, double x, double y) {
    Agnode_t* node = add_node(graph, name, 0.1, 0.1);
    set(node, "style", "invis");
    set(node, "pos", fmt::format("{:.2f},{:.2f}", x, y));
}

/// Formats other than SVG, whose reader has fonts, are drawn with those of this machine.
bool has_fonts() {
    const FcFontSet* fonts = FcInit() == FcTrue ? FcConfigGetFonts(nullptr, FcSetSystem) : nullptr;
    return fonts != nullptr && fonts->nfont > 0;
}

/// Cairo writes the second of the day into a PDF; without it the same canvas gives the same bytes.
/// Blanks keep every offset of the file's table of objects.
void forget_when(std::string& pdf) {
    constexpr std::string_view kEntry = "/CreationDate (";
    const std::size_t entry = pdf.find(kEntry);
    const std::size_t end = entry == std::string::npos ? entry : pdf.find(')', entry);
    if (end != std::string::npos) pdf.replace(entry, end + 1 - entry, end + 1 - entry, ' ');
}

Result<std::string> render_graphviz(const Canvas& drawing, Theme theme, const char* name,
                                    double scale) {
    const Canvas canvas = themed(drawing, theme);
    if (!has_fonts()) return no_fonts();
    GVC_t* context = graphviz();
    if (context == nullptr) return no_graphviz();
    const Graph graph = new_graph(Agundirected);
    set(graph.get(), "bb", fmt::format("0,0,{:.2f},{:.2f}", canvas.width, canvas.height));
    // The page is the canvas: without this Graphviz grows it by text as the machine's fonts
    // measure.
    set(graph.get(), "viewport", page(canvas));
    set(graph.get(), "pad", "0");
    // Of the pixels at the edge that the canvas covers in part.
    if (const std::optional<Color> color = background(theme))
        set(graph.get(), "bgcolor", fmt::format("#{:06x}", *color));
    set(graph.get(), "dpi", fmt::format("{}", std::lround(kPointsPerInch * scale)));
    set(graph.get(), "_background", to_xdot(canvas));
    add_corner(graph.get(), "corner-low", 0, canvas.height);
    add_corner(graph.get(), "corner-high", canvas.width, 0);
    if (gvLayout(context, graph.get(), "nop2") != 0) return no_plugin("nop2");
    char* data = nullptr;
    unsigned int length = 0;
    const int failed = gvRenderData(context, graph.get(), name, &data, &length);
    std::string bytes = failed == 0 && data != nullptr ? std::string(data, length) : "";
    if (data != nullptr) gvFreeRenderData(data);
    gvFreeLayout(context, graph.get());
    if (bytes.empty()) return no_plugin(name);
    return bytes;
}

Result<std::string> render_pdf(const Canvas& canvas, Theme theme) {
    Result<std::string> pdf = render_graphviz(canvas, theme, "pdf", 1);
    if (pdf) forget_when(*pdf);
    return pdf;
}

}  // namespace

Result<std::string> render_canvas(const Canvas& canvas, Format format, Theme theme, Font font) {
    switch (format) {
    case Format::Svg: return render_svg(canvas, theme, font);
    case Format::Pdf: return render_pdf(canvas, theme);
    case Format::Png: return render_png(canvas, theme, units_in_point(format));
    case Format::Text: return render_text(canvas);
    case Format::Tikz: return render_tikz(themed(canvas, theme));
    }
    throw InternalError("unknown format");
}

Result<std::string> render_png(const Canvas& canvas, Theme theme, double pixels_in_point) {
    constexpr double kMostPixels = 32000;  // a bitmap of Cairo has fewer than 2^15
    const double most = kMostPixels / std::max(canvas.width, canvas.height);
    return render_graphviz(canvas, theme, "png", std::min(pixels_in_point, most));
}

}  // namespace napkin::drawing
