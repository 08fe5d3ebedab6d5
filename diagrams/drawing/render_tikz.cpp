#include <fmt/format.h>

#include <set>

#include "diagrams/drawing/render.h"
#include "diagrams/overloaded.h"

namespace napkin::drawing {

namespace {

/// Computer Modern is wider than the type that layouts count with; a little smaller it is of a size
/// that the fonts have.
constexpr double kComputerModern = 0.92;

/// Where TikZ is loaded the picture is part of a document; else it is a document, one page of its
/// own size. What is still wider than the layout counted is scaled down to that.
constexpr const char* kPreamble =
    R"(% A picture by napkin: compiles alone, and in a document whose preamble has
% \usepackage{{tikz, amsmath, amssymb}} it is set by \input{{this file}}, or, to the width of the column,
% by \resizebox{{\linewidth}}{{!}}{{\input{{this file}}}}.
\ifcsname tikzpicture\endcsname
  \def\napkinend{{\ignorespaces}}
\else
  \documentclass{{article}}
  \usepackage[papersize={{{:.2f}pt,{:.2f}pt}}, margin=0pt]{{geometry}}
  \usepackage{{tikz, amsmath, amssymb}}
  \pagestyle{{empty}}
  \setlength{{\parindent}}{{0pt}}
  \setlength{{\topskip}}{{0pt}}
  \def\napkinend{{\end{{document}}}}
  \begin{{document}}%
\fi
\def\napkinfit#1#2{{\setbox0\hbox{{$#2$}}%
  \ifdim\wd0>#1\relax\resizebox{{#1}}{{!}}{{\box0}}\else\box0\fi}}
)";

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

/// A line each: TeX reads no line without an end.
std::string areas(const Boxes& shape) {
    std::string text = fmt::format("\\fill[{}]", color(shape.fill));
    for (const Box2& box : shape.boxes)
        text +=
            "\n  " + point({box.left, box.top}) + " rectangle " + point({box.right, box.bottom});
    return text + ";\n";
}

std::string label(const Text& text) {
    const char* anchor = text.anchor == Anchor::Left     ? "base west"
                         : text.anchor == Anchor::Middle ? "base"
                                                         : "base east";
    const double size = text.size * kComputerModern;
    return fmt::format(
        "\\node[anchor={}, inner sep=0, text={}, font=\\fontsize{{{:.1f}}}{{{:.1f}}}\\selectfont] "
        "at {} {{\\napkinfit{{{:.2f}pt}}{{{}}}}};\n",
        anchor, color(text.color), size, size, point(text.at), width_of(text.text, text.size),
        to_tex(text.text));
}

void collect(const Shape& shape, std::set<Color>& colors) {
    std::visit(overloaded{
                   [&](const Line& line) { colors.insert(line.stroke.color); },
                   [&](const Polygon& polygon) {
                       colors.insert(polygon.stroke.color);
                       if (polygon.fill) colors.insert(*polygon.fill);
                   },
                   [&](const Boxes& boxes) { colors.insert(boxes.fill); },
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
    std::string text = fmt::format(kPreamble, canvas.width, canvas.height);
    text += "\\begin{tikzpicture}[x=1pt, y=-1pt]\n";
    for (const Color value : colors)
        text += fmt::format("\\definecolor{{{}}}{{HTML}}{{{:06X}}}\n", color(value), value);
    text += fmt::format("\\useasboundingbox (0,0) rectangle ({:.2f},{:.2f});\n", canvas.width,
                        canvas.height);
    for (const Operation& operation : canvas.operations)
        text += std::visit(overloaded{
                               [](const Line& line) { return path(line); },
                               [](const Polygon& shape) { return polygon(shape); },
                               [](const Boxes& shape) { return areas(shape); },
                               [](const Dot& dot) {
                                   return fmt::format("\\draw[{}{}] {} circle[radius={:.2f}pt];\n",
                                                      pen(dot.stroke), filled(dot.fill),
                                                      point(dot.center), dot.radius);
                               },
                               [](const Text& shape) { return label(shape); },
                           },
                           operation.shape);
    return text + "\\end{tikzpicture}%\n\\napkinend\n";
}

}  // namespace napkin::drawing
