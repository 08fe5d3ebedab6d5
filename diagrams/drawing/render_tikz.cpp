#include <fmt/format.h>

#include <set>

#include "diagrams/drawing/render.h"
#include "diagrams/overloaded.h"

namespace napkin::drawing {

namespace {

std::string point(const Point& p) {
    return fmt::format("({:.2f},{:.2f})", p.x, p.y);
}

std::string color(Color value) {
    return fmt::format("c{:06X}", value);
}

std::string pen(const Stroke& stroke) {
    std::string options = fmt::format("{}, line width={:.2f}pt", color(stroke.color), stroke.width);
    if (stroke.dash == Dash::Dashed) options += ", dashed";
    if (stroke.dash == Dash::Dotted) options += ", densely dotted";
    return options;
}

std::string filled(const std::optional<Color>& fill) {
    return fill ? ", fill=" + color(*fill) : "";
}

std::string path(const Line& line) {
    std::string text = fmt::format("\\draw[{}] {}", pen(line.stroke), point(line.points[0]));
    if (!line.smooth)
        for (std::size_t i = 1; i < line.points.size(); ++i) text += " -- " + point(line.points[i]);
    for (std::size_t i = 1; line.smooth && i + 2 < line.points.size(); i += 3)
        text += fmt::format(" .. controls {} and {} .. {}", point(line.points[i]),
                            point(line.points[i + 1]), point(line.points[i + 2]));
    return text + ";\n";
}

std::string polygon(const Polygon& shape) {
    std::string text = fmt::format("\\draw[{}{}] ", pen(shape.stroke), filled(shape.fill));
    for (const Point& p : shape.points) text += point(p) + " -- ";
    return text + "cycle;\n";
}

std::string label(const Text& text) {
    const char* anchor = text.anchor == Anchor::Left     ? "base west"
                         : text.anchor == Anchor::Middle ? "base"
                                                         : "base east";
    return fmt::format(
        "\\node[anchor={}, inner sep=0, text={}, font=\\fontsize{{{:.1f}}}{{{:.1f}}}\\selectfont] "
        "at {} {{${}$}};\n",
        anchor, color(text.color), text.size, text.size, point(text.at), to_tex(text.text));
}

void collect(const Shape& shape, std::set<Color>& colors) {
    std::visit(overloaded{
                   [&](const Line& line) { colors.insert(line.stroke.color); },
                   [&](const Polygon& polygon) {
                       colors.insert(polygon.stroke.color);
                       if (polygon.fill) colors.insert(*polygon.fill);
                   },
                   [&](const Dot& dot) {
                       colors.insert(dot.stroke.color);
                       if (dot.fill) colors.insert(*dot.fill);
                   },
                   [&](const Text& text) { colors.insert(text.color); },
               },
               shape);
}

}  // namespace

std::string render_tikz(const Canvas& canvas) {
    std::set<Color> colors;
    for (const Operation& operation : canvas.operations) collect(operation.shape, colors);
    std::string text =
        "\\documentclass[tikz]{standalone}\n\\usepackage{amsmath,amssymb}\n\\begin{document}\n";
    for (const Color value : colors)
        text += fmt::format("\\definecolor{{{}}}{{HTML}}{{{:06X}}}\n", color(value), value);
    text += "\\begin{tikzpicture}[x=1pt, y=-1pt]\n";
    text += fmt::format("\\useasboundingbox (0,0) rectangle ({:.2f},{:.2f});\n", canvas.width,
                        canvas.height);
    for (const Operation& operation : canvas.operations)
        text += std::visit(overloaded{
                               [](const Line& line) { return path(line); },
                               [](const Polygon& shape) { return polygon(shape); },
                               [](const Dot& dot) {
                                   return fmt::format("\\draw[{}{}] {} circle[radius={:.2f}pt];\n",
                                                      pen(dot.stroke), filled(dot.fill),
                                                      point(dot.center), dot.radius);
                               },
                               [](const Text& shape) { return label(shape); },
                           },
                           operation.shape);
    return text + "\\end{tikzpicture}\n\\end{document}\n";
}

}  // namespace napkin::drawing
