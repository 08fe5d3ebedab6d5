// A drawing as a list of operations in points, y downwards: what every renderer reads. The layouts
// write it, nothing else does, so SVG, PDF, PNG, terminal text and TikZ show the same picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "diagrams/drawing/math_text.h"

namespace napkin::drawing {

struct Point {
    double x = 0;
    double y = 0;
    bool operator==(const Point&) const = default;
};

struct Box2 {
    double left = 0;
    double top = 0;
    double right = 0;
    double bottom = 0;
    bool operator==(const Box2&) const = default;
};
[[nodiscard]] Box2 united(const Box2& a, const Box2& b);
/// By more than rounding makes of boxes that touch.
[[nodiscard]] bool overlap(const Box2& a, const Box2& b);

/// 0xRRGGBB.
using Color = std::uint32_t;
inline constexpr Color kBlack = 0x000000;
inline constexpr Color kWhite = 0xFFFFFF;
// The paper's hues, as dark, and its fills as light, as it takes to be told apart: each on each 3
// to 1.
inline constexpr Color kBlockColor = 0xB86800;
inline constexpr Color kThreadColor = 0x458B0F;
inline constexpr Color kTensorCoreColor = 0x008C78;
inline constexpr Color kClusterColor = 0xE0001A;
inline constexpr Color kCacheColor = 0x767676;
inline constexpr Color kGrey = 0x6A6A6A;       ///< remarks
inline constexpr Color kNameColor = 0x555555;  ///< of arrays
inline constexpr Color kLoadFill = 0xD2FBF1;
inline constexpr Color kSaveFill = 0xF8D7FC;
inline constexpr Color kSubAlgorithmFill = 0xFDFAC8;
inline constexpr Color kHiddenFill = 0xACACAC;  ///< what a mask hides of tiles; seen on a page

enum class Dash { Solid, Dashed, Dotted };
struct Stroke {
    Color color = kBlack;
    double width = 1;
    Dash dash = Dash::Solid;
    bool operator==(const Stroke&) const = default;
};

/// How wires are drawn.
inline Stroke wire(Color color) {
    return {color, 1.2, Dash::Solid};
}

/// What a shape stands for: the terminal rendering and the tests go by it.
enum class Part { Wire, Separator, Cup, Glyph, Region, Tint, Rule, Arrow, ArrowHead };

/// A straight or smooth line. Smooth points are cubic Bezier control points, 3n + 1 of them.
struct Line {
    std::vector<Point> points;
    bool smooth = false;
    Stroke stroke;
    Part part = Part::Wire;
    bool operator==(const Line&) const = default;
};
struct Polygon {
    std::vector<Point> points;
    std::optional<Color> fill;
    Stroke stroke;
    Part part = Part::Glyph;
    bool operator==(const Polygon&) const = default;
};
/// Areas of one colour, painted as one, so that no seam shows where they touch.
struct Boxes {
    std::vector<Box2> boxes;
    Color fill = kBlack;
    bool crisp = false;  ///< no pixel in part: of boxes that are as large as pixels
    bool operator==(const Boxes&) const = default;
};
/// A filled dot (a copy) or an open circle (a split or join).
struct Dot {
    Point center;
    double radius = 3;
    std::optional<Color> fill;
    Stroke stroke;
    bool operator==(const Dot&) const = default;
};
enum class Anchor { Left, Middle, Right };
struct Text {
    MathText text;
    Point at;  ///< on the baseline
    Anchor anchor = Anchor::Middle;
    double size = 12;
    Color color = kBlack;
    bool operator==(const Text&) const = default;
};

/// What a shape says of the diagram, for whoever reads the SVG; empty where it says nothing.
struct Meaning {
    std::string axis{};
    std::string array{};
    std::string level{};
    std::string source{};  ///< `attention.ncd:12:3`
    bool operator==(const Meaning&) const = default;
};

using Shape = std::variant<Line, Polygon, Boxes, Dot, Text>;
struct Operation {
    Shape shape;
    Meaning meaning{};
    bool operator==(const Operation&) const = default;
};

/// A handle of the SVG: a place with an id, a class and a tooltip.
struct Element {
    std::string id;    ///< of several with one, an SVG numbers those after the first
    std::string kind;  ///< the CSS class: `box`, `load`, `save`, `array`, `cell`, `kernel`
    std::string tooltip;
    Box2 bounds;
    Meaning meaning{};
    bool operator==(const Element&) const = default;
};

struct Canvas {
    double width = 0;
    double height = 0;
    std::string title;                  ///< in words, for those who do not see it
    std::string description;            ///< likewise
    std::string step;                   ///< of the derivation that it is after, `group q by 128`
    std::vector<Operation> operations;  ///< painted in this order
    std::vector<Element> elements;

    void line(Point from, Point to, Stroke stroke, Part part, Meaning meaning = {});
    /// A wire that leaves and arrives level.
    void curve(Point from, Point to, Stroke stroke, Part part, Meaning meaning = {});
    void rectangle(const Box2& box, std::optional<Color> fill, Stroke stroke, Part part);
    void text(MathText label, Point at, Anchor anchor, double size, Color color = kBlack,
              Meaning meaning = {});
    void dot(Point center, double radius, std::optional<Color> fill, Color stroke);
    /// Adds a handle.
    void element(std::string id, std::string kind, std::string tooltip, const Box2& bounds,
                 Meaning meaning = {});

    bool operator==(const Canvas&) const = default;
};

[[nodiscard]] Box2 bounds_of(const Text& text);
[[nodiscard]] Box2 bounds_of(const Operation& operation);
/// Makes one line of level lines that continue each other.
void join_lines(Canvas& canvas);
/// The box that holds every operation.
[[nodiscard]] Box2 bounds_of(const Canvas& canvas);
/// Moves everything by a vector.
void translate(Canvas& canvas, double dx, double dy);
/// Adds `other`, moved by a vector, to `canvas`; the size is not changed.
void add(Canvas& canvas, const Canvas& other, double dx, double dy);
inline constexpr double kMargin = 8;  ///< around every picture
/// Moves the drawing to the margin and sets the canvas' size around it.
void fit(Canvas& canvas, double margin);

}  // namespace napkin::drawing
