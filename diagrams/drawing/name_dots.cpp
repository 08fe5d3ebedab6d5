// Dots that touch each other are one cluster, and are numbered from left to right; so a cluster has
// one label, `3-7`, however many there are. A label that does not stand beside its cluster is led
// to it by a line.
#include "diagrams/drawing/name_dots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace napkin::drawing {

namespace {

constexpr double kBeside = 3.5;
constexpr double kColumnGap = 18;
constexpr double kLeading = 1.2;  // of the size of the type
constexpr Stroke kLeader{kBlack, 0.4, Dash::Solid};

struct Direction {
    int x = 0;
    int y = 0;
};
constexpr std::array kDirections = {Direction{0, 1},  Direction{0, -1}, Direction{1, 1},
                                    Direction{1, -1}, Direction{-1, 1}, Direction{-1, -1},
                                    Direction{1, 0},  Direction{-1, 0}};

Box2 box_of(const NamedDot& named) {
    return bounds_of(Operation{named.dot});
}

Point middle_of(const Box2& box) {
    return {(box.left + box.right) / 2, (box.top + box.bottom) / 2};
}

Point nearest(const Box2& box, Point to) {
    return {std::clamp(to.x, box.left, box.right), std::clamp(to.y, box.top, box.bottom)};
}

/// A line as boxes of a point each, near each other.
std::vector<Box2> points_along(const Line& line) {
    constexpr double kStep = 2;
    std::vector<Box2> boxes;
    for (std::size_t i = 1; i < line.points.size(); ++i) {
        const Point from = line.points[i - 1];
        const Point to = line.points[i];
        const double steps = std::ceil(std::hypot(to.x - from.x, to.y - from.y) / kStep) + 1;
        for (double step = 0; step <= steps; ++step) {
            const double x = from.x + (to.x - from.x) * step / steps;
            const double y = from.y + (to.y - from.y) * step / steps;
            boxes.push_back({x - 0.5, y - 0.5, x + 0.5, y + 0.5});
        }
    }
    return boxes;
}

/// A label in its place.
struct Placed {
    Text text;
    bool is_beside = true;  ///< what it names
};

/// Finds places for labels one after another.
class DotLabeller {
public:
    DotLabeller(const std::vector<NamedDot>& dots, const DotField& field) : field_(field) {
        for (const NamedDot& named : dots) taken_.push_back(box_of(named));
        for (const Line& curve : field.curves)
            for (const Box2& point : points_along(curve)) curves_.push_back(point);
    }

    /// Clear of dots and labels, and of curves where it may be, as near as possible and no further
    /// away than some lines.
    std::optional<Placed> place(const std::string& label, const Box2& named, int lines) {
        for (const bool clear_of_curves : {true, false})
            for (int away = 0; away <= lines; ++away)
                for (const Direction direction : kDirections) {
                    const Text text = at(label, named, direction, away);
                    const Box2 box = bounds_of(text);
                    if (!is_inside(box) || meets(taken_, box) ||
                        (clear_of_curves && meets(curves_, box)))
                        continue;
                    taken_.push_back(box);
                    return Placed{text, away == 0};
                }
        return std::nullopt;
    }

private:
    [[nodiscard]] Text at(const std::string& label, const Box2& named, Direction direction,
                          int away) const {
        const double distance = away * kLeading * field_.size;
        const Point middle = middle_of(named);
        Text text{plain_text(label), middle, Anchor::Middle, field_.size, kBlack};
        if (direction.x > 0)
            text.at.x = named.right + kBeside + distance, text.anchor = Anchor::Left;
        if (direction.x < 0)
            text.at.x = named.left - kBeside - distance, text.anchor = Anchor::Right;
        const Box2 box = bounds_of(text);
        if (direction.y == 0) text.at.y += middle.y - middle_of(box).y;
        if (direction.y > 0) text.at.y += named.bottom + distance - box.top;
        if (direction.y < 0) text.at.y += named.top - distance - box.bottom;
        return text;
    }
    [[nodiscard]] bool is_inside(const Box2& box) const {
        const Box2& area = field_.area;
        return box.left >= area.left && box.right <= area.right && box.top >= area.top &&
               box.bottom <= area.bottom;
    }
    static bool meets(const std::vector<Box2>& boxes, const Box2& box) {
        return std::any_of(boxes.begin(), boxes.end(),
                           [&](const Box2& other) { return overlap(other, box); });
    }

    const DotField& field_;
    std::vector<Box2> taken_;
    std::vector<Box2> curves_;
};

/// Every name beside its dot, or nothing.
std::optional<std::vector<Text>> names_beside(const std::vector<NamedDot>& dots,
                                              const DotField& field) {
    DotLabeller labeller(dots, field);
    std::vector<Text> names;
    for (const NamedDot& named : dots) {
        const auto placed = labeller.place(named.name, box_of(named), 0);
        if (!placed) return std::nullopt;
        names.push_back(placed->text);
    }
    return names;
}

struct Cluster {
    std::vector<NamedDot> dots;
    Box2 box;
};

std::vector<Cluster> clusters_of(const std::vector<NamedDot>& dots) {
    std::vector<Cluster> clusters;
    for (const NamedDot& named : dots) {
        Cluster grown{{named}, box_of(named)};
        const auto touches = [&](const Cluster& other) {
            return std::any_of(other.dots.begin(), other.dots.end(), [&](const NamedDot& each) {
                return overlap(box_of(each), box_of(named));
            });
        };
        const auto joined = std::stable_partition(
            clusters.begin(), clusters.end(), [&](const Cluster& each) { return !touches(each); });
        for (auto each = joined; each != clusters.end(); ++each) {
            grown.dots.insert(grown.dots.begin(), each->dots.begin(), each->dots.end());
            grown.box = united(grown.box, each->box);
        }
        clusters.erase(joined, clusters.end());
        clusters.push_back(std::move(grown));
    }
    const auto is_left = [](const NamedDot& a, const NamedDot& b) {
        return a.dot.center.x < b.dot.center.x;
    };
    for (Cluster& cluster : clusters)
        std::stable_sort(cluster.dots.begin(), cluster.dots.end(), is_left);
    std::stable_sort(clusters.begin(), clusters.end(), [&](const Cluster& a, const Cluster& b) {
        return is_left(a.dots.front(), b.dots.front());
    });
    return clusters;
}

/// What the numbers stand for, from the top of each column down.
void add_key(Canvas& canvas, const std::vector<std::string>& names, const DotField& field) {
    const auto width = [&](const std::string& text) {
        return width_of(plain_text(text), field.size);
    };
    const double numbers = width(std::to_string(names.size()));
    double widest = 0;
    for (const std::string& name : names) widest = std::max(widest, width(name));
    const double column = numbers + 2 * kBeside + widest + kColumnGap;
    const double space = field.area.right - field.area.left + kColumnGap;
    const auto columns = static_cast<std::size_t>(std::max(1.0, std::floor(space / column)));
    const std::size_t rows = (names.size() + columns - 1) / columns;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const double x = field.area.left + static_cast<double>(i / rows) * column + numbers;
        const double y = field.key_top + static_cast<double>(i % rows + 1) * kLeading * field.size;
        canvas.text(plain_text(std::to_string(i + 1)), {x, y}, Anchor::Right, field.size);
        canvas.text(plain_text(names[i]), {x + 2 * kBeside, y}, Anchor::Left, field.size);
    }
}

void number(Canvas& canvas, const std::vector<NamedDot>& dots, const DotField& field) {
    constexpr int kFurthest = 40;  // lines: past every corner
    DotLabeller labeller(dots, field);
    std::vector<std::string> names;
    for (const Cluster& cluster : clusters_of(dots)) {
        std::string label = std::to_string(names.size() + 1);
        for (const NamedDot& named : cluster.dots) names.push_back(named.name);
        if (cluster.dots.size() > 1) label += "-" + std::to_string(names.size());
        const auto placed = labeller.place(label, cluster.box, kFurthest);
        if (!placed) continue;
        if (!placed->is_beside)
            canvas.line(cluster.dots.front().dot.center,
                        nearest(bounds_of(placed->text), cluster.dots.front().dot.center), kLeader,
                        Part::Rule);
        canvas.operations.push_back({placed->text});
    }
    add_key(canvas, names, field);
}

}  // namespace

void name_dots(Canvas& canvas, const std::vector<NamedDot>& dots, const DotField& field) {
    const auto names = names_beside(dots, field);
    if (!names) return number(canvas, dots, field);
    for (const Text& name : *names) canvas.operations.push_back({name});
}

}  // namespace napkin::drawing
