#include "diagrams/drawing/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diagrams/drawing/name_dots.h"
#include "diagrams/result.h"

namespace napkin::drawing {

namespace {

constexpr double kWidth = 460;
constexpr double kHeight = 300;
constexpr double kTextSize = 11;
constexpr double kTitleSize = 13;
constexpr double kLine = 13;  // between names that would meet
constexpr double kGap = 6;
constexpr double kDot = 3.5;
constexpr double kHalfDecade = 3.2;
constexpr Stroke kAxisStroke{kBlack, 1, Dash::Solid};
constexpr Stroke kGrid{kCacheColor, 0.3, Dash::Solid};
constexpr Stroke kMarkStroke{kBlack, 0.8, Dash::Dotted};

/// What an axis shows, and where in points.
struct Scale {
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    double from = 0;
    double to = 0;

    void take(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    void widen(double factor) {
        low /= factor;
        high *= factor;
    }
    [[nodiscard]] double at(double value) const {
        return from + (to - from) * std::log(value / low) / std::log(high / low);
    }
    /// 1, 2 and 5 of every power of ten, or fewer where these would be many.
    [[nodiscard]] std::vector<double> ticks() const {
        constexpr double kMostDecades = 2.5;
        const bool few = std::log10(high / low) > kMostDecades;
        std::vector<double> found;
        for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10)
            for (const double step : {1.0, 2.0, 5.0})
                if ((step == 1 || !few) && power * step >= low && power * step <= high)
                    found.push_back(power * step);
        return found;
    }
};

class CurvePlotter {
public:
    explicit CurvePlotter(const Plot& plot) : plot_(plot) {
        for (const Curve& curve : plot.curves)
            for (const Point& point : curve.points) {
                x_.take(point.x);
                y_.take(point.y);
            }
        for (const PlotMark& mark : plot.marks) {
            x_.take(mark.x);
            if (mark.y > 0) y_.take(mark.y);
        }
        for (Scale* scale : {&x_, &y_}) {
            invariant(scale->high == 0 || (scale->low > 0 && std::isfinite(scale->high)),
                      "a plot of what has no logarithm");
            if (scale->high == 0) scale->low = scale->high = 1;
        }
        y_.widen(1.25);
        if (x_.high <= x_.low) x_.widen(1.25);
        for (Scale* scale : {&x_, &y_})
            if (scale->ticks().empty()) scale->widen(kHalfDecade);
        for (const PlotMark& mark : plot.marks)
            if (is_line(mark)) lines_.push_back(&mark);
        std::stable_sort(lines_.begin(), lines_.end(),
                         [](const PlotMark* a, const PlotMark* b) { return a->x < b->x; });
        x_.from = 0;
        x_.to = kWidth;
        y_.from = kHeight;
        y_.to = lines_.empty() ? 0 : kLine * static_cast<double>(lines_.size()) + kGap;
    }

    Canvas run() {
        canvas_.title = plot_.title;
        axes();
        draw_lines();
        draw_dots();
        for (Line& line : lines_of_curves()) {
            if (line.points.size() > 1)
                canvas_.operations.push_back({std::move(line), {}});
            else if (!line.points.empty())
                canvas_.dot(line.points.front(), kDot, kBlack, kBlack);
        }
        name_curves();
        fit(canvas_, kMargin);
        return std::move(canvas_);
    }

private:
    static bool is_line(const PlotMark& mark) { return mark.letter.empty() && mark.y <= 0; }
    [[nodiscard]] Point at(const Point& point) const { return {x_.at(point.x), y_.at(point.y)}; }
    void put(const std::string& text, Point where, Anchor anchor, double size = kTextSize) {
        canvas_.text(plain_text(text), where, anchor, size);
    }

    void axes() {
        for (const double tick : x_.ticks()) {
            const double x = x_.at(tick);
            canvas_.line({x, 0}, {x, kHeight}, kGrid, Part::Rule);
            put(plot_.x.text(tick), {x, kHeight + kLine}, Anchor::Middle);
        }
        for (const double tick : y_.ticks()) {
            const double y = y_.at(tick);
            canvas_.line({0, y}, {kWidth, y}, kGrid, Part::Rule);
            put(plot_.y.text(tick), {-kGap, y + 0.3 * kTextSize}, Anchor::Right);
        }
        canvas_.line({0, kHeight}, {kWidth, kHeight}, kAxisStroke, Part::Rule);
        canvas_.line({0, 0}, {0, kHeight}, kAxisStroke, Part::Rule);
        put(plot_.x.title, {kWidth, kHeight + 2.3 * kLine}, Anchor::Right);
        put(plot_.y.title, {0, -kGap}, Anchor::Left);
        put(plot_.title, {0, -kGap - 1.6 * kLine}, Anchor::Left, kTitleSize);
    }

    /// Lines are named above the curves, each on a row of its own, from which it goes down. Those
    /// on the left are named on their right, the first on top, and the others on their left, the
    /// last on top: so no line goes through another's name.
    void draw_lines() {
        const auto first_right =
            std::find_if(lines_.begin(), lines_.end(),
                         [&](const PlotMark* mark) { return x_.at(mark->x) > kWidth / 2; });
        std::reverse(first_right, lines_.end());
        double y = 0;
        for (auto line = lines_.begin(); line != lines_.end(); ++line) {
            const bool is_left = line < first_right;
            const double x = x_.at((*line)->x);
            canvas_.line({x, y + 3}, {x, kHeight}, kMarkStroke, Part::Rule);
            y += kLine;
            put((*line)->name, {x + (is_left ? 3 : -3), y}, is_left ? Anchor::Left : Anchor::Right);
        }
    }

    void draw_dots() {
        std::vector<NamedDot> dots;
        for (const PlotMark& mark : plot_.marks) {
            if (is_line(mark)) continue;
            const Point center = at({mark.x, mark.y});
            if (!mark.letter.empty())
                put(mark.letter, {center.x, center.y + 0.3 * kTextSize}, Anchor::Middle);
            else
                dots.push_back({mark.name, {center, kDot, kBlack, {kBlack}}});
        }
        for (const NamedDot& named : dots) canvas_.operations.push_back({named.dot});
        name_dots(canvas_, dots,
                  {{0, y_.to, kWidth, kHeight}, lines_of_curves(), kHeight + 3 * kLine, kTextSize});
    }

    [[nodiscard]] std::vector<Line> lines_of_curves() const {
        std::vector<Line> lines;
        for (const Curve& curve : plot_.curves) {
            Line line{{}, false, {kBlack, curve.width, curve.dash}, Part::Wire};
            for (const Point& point : curve.points) line.points.push_back(at(point));
            lines.push_back(std::move(line));
        }
        return lines;
    }

    /// On the right of their last points, apart from each other.
    void name_curves() {
        std::vector<const Curve*> order;
        for (const Curve& curve : plot_.curves)
            if (!curve.points.empty() && !curve.name.empty()) order.push_back(&curve);
        std::stable_sort(order.begin(), order.end(), [&](const Curve* a, const Curve* b) {
            return a->points.back().y > b->points.back().y;
        });
        double free = -std::numeric_limits<double>::infinity();
        for (const Curve* curve : order) {
            const Point end = at(curve->points.back());
            const double y = std::max(end.y, free);
            free = y + kLine;
            if (end.x > 0.98 * kWidth)
                canvas_.line(end, {kWidth + kGap, y}, {kBlack, 0.4, Dash::Solid}, Part::Rule);
            canvas_.line({kWidth + kGap, y}, {kWidth + 5 * kGap, y},
                         {kBlack, curve->width, curve->dash}, Part::Rule);
            put(curve->name, {kWidth + 6 * kGap, y + 0.3 * kTextSize}, Anchor::Left);
        }
    }

    const Plot& plot_;
    Canvas canvas_;
    Scale x_;
    Scale y_;
    std::vector<const PlotMark*> lines_;
};

}  // namespace

Canvas draw_plot(const Plot& plot) {
    return CurvePlotter(plot).run();
}

}  // namespace napkin::drawing
