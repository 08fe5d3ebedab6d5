#include "diagrams/drawing/canvas.h"

#include <algorithm>
#include <utility>

#include "diagrams/overloaded.h"

namespace napkin::drawing {

namespace {

constexpr double kAscent = 0.72;  // of letters, in sizes; scripts and overbars add their own
constexpr double kDescent = 0.22;

Box2 hull(const std::vector<Point>& points) {
    Box2 box{points.front().x, points.front().y, points.front().x, points.front().y};
    for (const Point& p : points) box = united(box, {p.x, p.y, p.x, p.y});
    return box;
}

Box2 hull(const std::vector<Box2>& boxes) {
    Box2 all = boxes.front();
    for (const Box2& box : boxes) all = united(all, box);
    return all;
}

void shift(Point& point, double dx, double dy) {
    point.x += dx;
    point.y += dy;
}

void shift(Box2& box, double dx, double dy) {
    box = {box.left + dx, box.top + dy, box.right + dx, box.bottom + dy};
}

void shift(Shape& shape, double dx, double dy) {
    std::visit(overloaded{
                   [&](Line& line) {
                       for (Point& p : line.points) shift(p, dx, dy);
                   },
                   [&](Polygon& polygon) {
                       for (Point& p : polygon.points) shift(p, dx, dy);
                   },
                   [&](Boxes& boxes) {
                       for (Box2& box : boxes.boxes) shift(box, dx, dy);
                   },
                   [&](Dot& dot) { shift(dot.center, dx, dy); },
                   [&](Text& text) { shift(text.at, dx, dy); },
               },
               shape);
}

}  // namespace

Box2 united(const Box2& a, const Box2& b) {
    return {std::min(a.left, b.left), std::min(a.top, b.top), std::max(a.right, b.right),
            std::max(a.bottom, b.bottom)};
}

bool overlap(const Box2& a, const Box2& b) {
    constexpr double kRounding = 1e-9;
    return a.left + kRounding < b.right && b.left + kRounding < a.right &&
           a.top + kRounding < b.bottom && b.top + kRounding < a.bottom;
}

void Canvas::line(Point from, Point to, Stroke stroke, Part part, Meaning meaning) {
    operations.push_back({Line{{from, to}, false, stroke, part}, std::move(meaning)});
}

void Canvas::curve(Point from, Point to, Stroke stroke, Part part, Meaning meaning) {
    if (from.y == to.y) return line(from, to, stroke, part, std::move(meaning));
    const double middle = (from.x + to.x) / 2;
    operations.push_back({Line{{from, {middle, from.y}, {middle, to.y}, to}, true, stroke, part},
                          std::move(meaning)});
}

void Canvas::rectangle(const Box2& box, std::optional<Color> fill, Stroke stroke, Part part) {
    operations.push_back({Polygon{{{box.left, box.top},
                                   {box.right, box.top},
                                   {box.right, box.bottom},
                                   {box.left, box.bottom}},
                                  fill,
                                  stroke,
                                  part},
                          {}});
}

void Canvas::text(MathText label, Point at, Anchor anchor, double size, Color color,
                  Meaning meaning) {
    if (label.runs.empty()) return;
    operations.push_back({Text{std::move(label), at, anchor, size, color}, std::move(meaning)});
}

void Canvas::dot(Point center, double radius, std::optional<Color> fill, Color stroke) {
    operations.push_back({Dot{center, radius, fill, {stroke}}, {}});
}

void Canvas::element(std::string id, std::string kind, std::string tooltip, const Box2& bounds,
                     Meaning meaning) {
    elements.push_back(
        {std::move(id), std::move(kind), std::move(tooltip), bounds, std::move(meaning)});
}

Box2 bounds_of(const Text& text) {
    const double width = width_of(text.text, text.size);
    const double left = text.anchor == Anchor::Left     ? text.at.x
                        : text.anchor == Anchor::Middle ? text.at.x - width / 2
                                                        : text.at.x - width;
    Box2 box{left, text.at.y - kAscent * text.size, left + width, text.at.y + kDescent * text.size};
    for (const PlacedRun& run : place_runs(text.text, text.size)) {
        box.top = std::min(box.top, text.at.y - run.rise - kAscent * run.size);
        box.bottom = std::max(box.bottom, text.at.y - run.rise + kDescent * run.size);
    }
    for (const Bar& bar : bars_over(text.text, text.size))
        box.top = std::min(box.top, text.at.y - bar.rise - kBarWidth / 2);
    return box;
}

Box2 bounds_of(const Operation& operation) {
    return std::visit(overloaded{
                          [](const Line& line) { return hull(line.points); },
                          [](const Polygon& polygon) { return hull(polygon.points); },
                          [](const Boxes& boxes) { return hull(boxes.boxes); },
                          [](const Dot& dot) {
                              return Box2{dot.center.x - dot.radius, dot.center.y - dot.radius,
                                          dot.center.x + dot.radius, dot.center.y + dot.radius};
                          },
                          [](const Text& text) { return bounds_of(text); },
                      },
                      operation.shape);
}

Box2 bounds_of(const Canvas& canvas) {
    if (canvas.operations.empty()) return {};
    Box2 box = bounds_of(canvas.operations.front());
    for (const Operation& operation : canvas.operations) box = united(box, bounds_of(operation));
    return box;
}

void join_lines(Canvas& canvas) {
    std::vector<Operation> joined;
    for (Operation& operation : canvas.operations) {
        Line* line = std::get_if<Line>(&operation.shape);
        const auto continues = [&](const Operation& other) {
            const Line* before = std::get_if<Line>(&other.shape);
            return before != nullptr && before->points.size() == 2 &&
                   other.meaning == operation.meaning && before->stroke == line->stroke &&
                   before->part == line->part && before->points[0].y == before->points[1].y &&
                   before->points[1] == line->points[0];
        };
        const bool level =
            line != nullptr && line->points.size() == 2 && line->points[0].y == line->points[1].y;
        const auto found =
            level ? std::find_if(joined.rbegin(), joined.rend(), continues) : joined.rend();
        if (found == joined.rend())
            joined.push_back(std::move(operation));
        else
            std::get<Line>(found->shape).points[1] = line->points[1];
    }
    canvas.operations = std::move(joined);
}

void translate(Canvas& canvas, double dx, double dy) {
    for (Operation& operation : canvas.operations) shift(operation.shape, dx, dy);
    for (Element& element : canvas.elements) shift(element.bounds, dx, dy);
}

void add(Canvas& canvas, const Canvas& other, double dx, double dy) {
    Canvas moved = other;
    translate(moved, dx, dy);
    canvas.operations.insert(canvas.operations.end(), moved.operations.begin(),
                             moved.operations.end());
    canvas.elements.insert(canvas.elements.end(), moved.elements.begin(), moved.elements.end());
}

void fit(Canvas& canvas, double margin) {
    const Box2 box = bounds_of(canvas);
    translate(canvas, margin - box.left, margin - box.top);
    canvas.width = box.right - box.left + 2 * margin;
    canvas.height = box.bottom - box.top + 2 * margin;
}

}  // namespace napkin::drawing
