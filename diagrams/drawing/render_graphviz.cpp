// Graphviz draws what was laid out here: a graph of pinned invisible nodes (two corners, and one
// handle an element of the picture) with the picture as its background, under the layout that only
// accepts positions.

#include <fmt/format.h>
#include <fontconfig/fontconfig.h>
#include <graphviz/gvc.h>

#include <cmath>
#include <memory>

#include "diagrams/drawing/layout.h"
#include "diagrams/drawing/messages.h"
#include "diagrams/drawing/render.h"

/// What Graphviz and the font libraries keep until the end is not a leak of ours: a sanitizer asks
/// here. Without one nobody calls it.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the sanitizer's name
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
    return "leak:libfontconfig\nleak:libglib\nleak:libpango\nleak:libcairo\nleak:libgvc\n"
           "leak:libcgraph\nleak:libgvplugin\n";
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace napkin::drawing {

namespace {

constexpr double kPointsPerInch = 72;
constexpr int kPixelsPerInch = 144;  // of PNG: crisp where a page shows it smaller
constexpr int kCssPixelsPerInch = 96;

struct Closer {
    void operator()(GVC_t* context) const { gvFreeContext(context); }
    void operator()(Agraph_t* graph) const { agclose(graph); }
};

/// Graphviz' setters take char* and copy it.
char* writable(std::string& text) {
    return text.data();
}

void set(void* object, const char* name, std::string value) {
    std::string key = name;
    std::string none;
    agsafeset(object, writable(key), writable(value), writable(none));
}

std::string position(const Canvas& canvas, double x, double y) {
    return fmt::format("{:.2f},{:.2f}", x, canvas.height - y);
}

/// Width, height, scale and centre, in hundredths of a point that halve exactly.
std::string page(const Canvas& canvas) {
    const double width = std::ceil(canvas.width * 50) / 50;
    const double height = std::ceil(canvas.height * 50) / 50;
    return fmt::format("{:.2f},{:.2f},1,{:.2f},{:.2f}", width, height, width / 2, height / 2);
}

Agnode_t* add_node(Agraph_t* graph, std::string name) {
    Agnode_t* node = agnode(graph, writable(name), 1);
    set(node, "label", "");
    set(node, "fixedsize", "true");
    return node;
}

void add_corner(Agraph_t* graph, const Canvas& canvas, const char* name, double x, double y) {
    Agnode_t* node = add_node(graph, name);
    set(node, "style", "invis");
    set(node, "width", "0.001");
    set(node, "height", "0.001");
    set(node, "pos", position(canvas, x, y));
}

void add_handle(Agraph_t* graph, const Canvas& canvas, const Element& element) {
    Agnode_t* node = add_node(graph, element.id);
    const Box2& box = element.bounds;
    set(node, "shape", "box");
    set(node, "color", "transparent");
    set(node, "pos", position(canvas, (box.left + box.right) / 2, (box.top + box.bottom) / 2));
    set(node, "width", fmt::format("{:.3f}", (box.right - box.left) / kPointsPerInch));
    set(node, "height", fmt::format("{:.3f}", (box.bottom - box.top) / kPointsPerInch));
    set(node, "id", element.id);
    set(node, "class", element.kind);
    set(node, "tooltip", element.tooltip);
}

/// Formats other than SVG, whose reader has fonts, are drawn with those of this machine.
bool has_fonts() {
    const FcFontSet* fonts = FcInit() == FcTrue ? FcConfigGetFonts(nullptr, FcSetSystem) : nullptr;
    return fonts != nullptr && fonts->nfont > 0;
}

Result<std::string> render_graphviz(const Canvas& canvas, const char* format) {
    // One kContext for the life of the process: Graphviz' text layout remembers the name of the
    // last font beyond the kContext that owned it.
    static const std::unique_ptr<GVC_t, Closer> kContext(gvContext());
    if (kContext == nullptr) return no_graphviz();
    std::string name = "picture";
    const std::unique_ptr<Agraph_t, Closer> graph(agopen(writable(name), Agundirected, nullptr));
    set(graph.get(), "bb", fmt::format("0,0,{:.2f},{:.2f}", canvas.width, canvas.height));
    // The page is the canvas: without this Graphviz grows it by text as the machine's fonts
    // measure.
    set(graph.get(), "viewport", page(canvas));
    set(graph.get(), "pad", "0");
    set(graph.get(), "dpi", std::string(format) == "png" ? std::to_string(kPixelsPerInch) : "72");
    set(graph.get(), "_background", to_xdot(canvas));
    add_corner(graph.get(), canvas, "corner-low", 0, 0);
    add_corner(graph.get(), canvas, "corner-high", canvas.width, canvas.height);
    for (const Element& element : canvas.elements) add_handle(graph.get(), canvas, element);
    agseterr(AGMAX);  // what goes wrong is told by the results below
    if (gvLayout(kContext.get(), graph.get(), "nop2") != 0) return no_plugin("nop2");
    char* data = nullptr;
    unsigned int length = 0;
    const int failed = gvRenderData(kContext.get(), graph.get(), format, &data, &length);
    std::string bytes = failed == 0 && data != nullptr ? std::string(data, length) : "";
    if (data != nullptr) gvFreeRenderData(data);
    gvFreeLayout(kContext.get(), graph.get());
    if (bytes.empty()) return no_plugin(format);
    return bytes;
}

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

double units_in_point(Format format) {
    switch (format) {
    case Format::Svg: return kCssPixelsPerInch / kPointsPerInch;
    case Format::Png: return kPixelsPerInch / kPointsPerInch;
    case Format::Pdf:
    case Format::Tikz: return 1;
    case Format::Text: return 1 / kTerminalCell;
    }
    throw InternalError("unknown format");
}

Result<std::string> render_canvas(const Canvas& canvas, Format format) {
    switch (format) {
    case Format::Svg: return render_graphviz(canvas, "svg");
    case Format::Pdf: return has_fonts() ? render_graphviz(canvas, "pdf") : no_fonts();
    case Format::Png: return has_fonts() ? render_graphviz(canvas, "png") : no_fonts();
    case Format::Text: return render_text(canvas);
    case Format::Tikz: return render_tikz(canvas);
    }
    throw InternalError("unknown format");
}

}  // namespace napkin::drawing
