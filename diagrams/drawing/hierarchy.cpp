#include "diagrams/drawing/hierarchy.h"

#include <algorithm>
#include <cmath>

namespace napkin::drawing {

namespace {

constexpr double kRadius = 9;
constexpr double kStep = 46;  // between depths
constexpr double kTextSize = 11;
constexpr double kFormulaSize = 13;
constexpr double kLine = 13;
constexpr double kTitleLine = 16;
constexpr double kGap = 8;
constexpr double kHierarchiesApart = 30;  // between hierarchies

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines(1);
    for (const char c : text)
        if (c == '\n')
            lines.emplace_back();
        else
            lines.back() += c;
    return lines;
}

/// Lines around a height.
void put(Canvas& canvas, const std::string& text, Point middle, Anchor anchor, Face face) {
    if (text.empty()) return;
    const std::vector<std::string> lines = lines_of(text);
    double y = middle.y - kLine * (static_cast<double>(lines.size()) - 1) / 2 + kTextSize * 0.32;
    for (const std::string& line : lines) {
        canvas.text(plain_text(line, face), {middle.x, y}, anchor, kTextSize);
        y += kLine;
    }
}

double widest(const std::string& text) {
    double width = 0;
    for (const std::string& line : lines_of(text))
        width = std::max(width, width_of(plain_text(line), kTextSize));
    return width;
}

/// Longest way from a root; edges that close a circle are not followed twice.
std::vector<std::size_t> depths_of(const Hierarchy& hierarchy) {
    std::vector<std::size_t> depths(hierarchy.levels.size(), 0);
    for (std::size_t round = 0; round < hierarchy.levels.size(); ++round)
        for (const auto& [from, to] : hierarchy.edges)
            if (from < depths.size() && to < depths.size() && from != to)
                depths[to] = std::min(std::max(depths[to], depths[from] + 1), depths.size());
    return depths;
}

void arrow(Canvas& canvas, Point from, Point to, Color color) {
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    const double dx = (to.x - from.x) / length;
    const double dy = (to.y - from.y) / length;
    const Point start{from.x + kRadius * dx, from.y + kRadius * dy};
    const Point end{to.x - (kRadius + 1) * dx, to.y - (kRadius + 1) * dy};
    const Stroke stroke{color, 1.2, Dash::Solid};
    canvas.line(start, end, stroke, Part::Arrow);
    for (const double side : {-1.0, 1.0})
        canvas.line(end, {end.x - 6 * dx + side * 3.2 * dy, end.y - 6 * dy - side * 3.2 * dx},
                    stroke, Part::ArrowHead);
}

/// Where the circles of one depth stand: apart enough for texts between them.
std::vector<Point> place(const Hierarchy& hierarchy) {
    const std::vector<std::size_t> depths = depths_of(hierarchy);
    std::vector<Point> places(depths.size());
    for (std::size_t depth = 0; depth <= depths.size(); ++depth) {
        std::vector<std::size_t> row;
        double step = 54;
        for (std::size_t i = 0; i < depths.size(); ++i)
            if (depths[i] == depth) row.push_back(i);
        for (std::size_t i : row)
            if (row.size() > 2)
                step = std::max({step, widest(hierarchy.levels[i].name) + kGap,
                                 widest(hierarchy.levels[i].memory) + kGap});
            else
                step = std::max(step, widest(hierarchy.levels[i].memory) + kGap);
        for (std::size_t k = 0; k < row.size(); ++k)
            places[row[k]] = {
                step * (static_cast<double>(k) - (static_cast<double>(row.size()) - 1) / 2),
                kStep * static_cast<double>(depth)};
    }
    return places;
}

/// The other level at the same depth, where there is one.
std::size_t partner_of(const std::vector<Point>& places, std::size_t level) {
    for (std::size_t i = 0; i < places.size(); ++i)
        if (i != level && places[i].y == places[level].y) return i;
    return level;
}

void label(Canvas& canvas, const Hierarchy& hierarchy, const std::vector<Point>& places) {
    for (std::size_t i = 0; i < places.size(); ++i) {
        const HierarchyLevel& level = hierarchy.levels[i];
        const Point at = places[i];
        std::size_t row = 0;
        for (const Point& other : places) row += other.y == at.y ? 1 : 0;
        const double beside = kRadius + 5;
        const double below = at.y + kRadius + kLine * 0.8;
        if (row == 1) {
            put(canvas, level.name, {at.x - beside, at.y}, Anchor::Right, Face::Roman);
            put(canvas, level.memory, {at.x + beside, at.y}, Anchor::Left, Face::Italic);
        } else if (row == 2) {
            const bool left = at.x < 0;
            put(canvas, level.name, {at.x + (left ? -beside : beside), at.y},
                left ? Anchor::Right : Anchor::Left, Face::Roman);
            const HierarchyLevel& other = hierarchy.levels[partner_of(places, i)];
            const bool shared = other.memory == level.memory;
            if (!shared || left)
                put(canvas, level.memory, {shared ? 0 : at.x, below}, Anchor::Middle, Face::Italic);
        } else {
            const double lines = static_cast<double>(lines_of(level.name).size());
            put(canvas, level.name, {at.x, below + kLine * (lines - 1) / 2}, Anchor::Middle,
                Face::Roman);
            put(canvas, level.memory, {at.x, below + kLine * lines}, Anchor::Middle, Face::Italic);
        }
    }
}

Canvas draw_one(const Hierarchy& hierarchy, double title_lines) {
    Canvas canvas;
    const std::vector<Point> places = place(hierarchy);
    for (const auto& [from, to] : hierarchy.edges)
        if (from < places.size() && to < places.size() && places[from] != places[to])
            arrow(canvas, places[from], places[to], hierarchy.levels[to].color);
    for (std::size_t i = 0; i < places.size(); ++i) {
        canvas.dot(places[i], kRadius, hierarchy.levels[i].color, kBlack);
        std::string name = hierarchy.levels[i].name;
        std::replace(name.begin(), name.end(), '\n', ' ');
        canvas.element("level-" + std::to_string(i), "level", name,
                       {places[i].x - kRadius, places[i].y - kRadius, places[i].x + kRadius,
                        places[i].y + kRadius});
    }
    label(canvas, hierarchy, places);
    double y = -kRadius - 10 - kTitleLine * (title_lines - 1);
    for (const std::string& line : hierarchy.title) {
        canvas.text(plain_text(line), {0, y}, Anchor::Middle, kFormulaSize);
        y += kTitleLine;
    }
    return canvas;
}

}  // namespace

Canvas draw_hierarchies(const std::vector<Hierarchy>& hierarchies) {
    Canvas picture;
    std::size_t title_lines = 1;
    for (const Hierarchy& one : hierarchies) title_lines = std::max(title_lines, one.title.size());
    double x = 0;
    for (const Hierarchy& one : hierarchies) {
        const Canvas canvas = draw_one(one, static_cast<double>(title_lines));
        if (canvas.operations.empty()) continue;
        const Box2 box = bounds_of(canvas);
        add(picture, canvas, x - box.left, 0);
        x += box.right - box.left + kHierarchiesApart;
    }
    fit(picture, kMargin);
    return picture;
}

Canvas draw_hierarchy(const Hierarchy& hierarchy) {
    return draw_hierarchies({hierarchy});
}

}  // namespace napkin::drawing
