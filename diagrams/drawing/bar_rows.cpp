#include "diagrams/drawing/bar_rows.h"

#include <algorithm>
#include <cmath>

namespace napkin::drawing {

namespace {

constexpr double kWidth = 720;
constexpr double kRow = 22;
constexpr double kBar = 17;
constexpr double kBetweenGroups = 8;
constexpr double kTextSize = 10;
constexpr double kTitleSize = 13;
constexpr double kGap = 6;
constexpr Color kGreyFill = 0xDDDDDD;
constexpr Stroke kOutline{kBlack, 0.7, Dash::Solid};
constexpr Stroke kTick{kCacheColor, 0.3, Dash::Solid};

class RowPainter {
public:
    explicit RowPainter(const BarRows& chart) : chart_(chart) {
        for (const RowBar& bar : chart.bars) end_ = std::max(end_, bar.end);
        double y = 0;
        for (std::size_t row = 0; row < chart.rows.size(); ++row) {
            if (row > 0 && chart.groups[row] != chart.groups[row - 1]) y += kBetweenGroups;
            tops_.push_back(y);
            y += kRow;
            names_width_ = std::max(names_width_, width_of(plain_text(chart.rows[row]), kTextSize));
        }
        bottom_ = y;
    }

    Canvas run() {
        canvas_.title = chart_.title;
        canvas_.text(plain_text(chart_.title), {0, -2 * kGap}, Anchor::Left, kTitleSize);
        ticks();
        for (std::size_t row = 0; row < tops_.size(); ++row) name(row);
        for (const RowBar& bar : chart_.bars) draw(bar);
        fit(canvas_, kMargin);
        return std::move(canvas_);
    }

private:
    [[nodiscard]] double at(double time) const { return end_ > 0 ? kWidth * time / end_ : 0; }

    void ticks() {
        constexpr double kAbout = 8;
        const double power = std::pow(10, std::floor(std::log10(std::max(end_, 1.0) / kAbout)));
        double step = power;
        for (const double factor : {2.0, 5.0, 10.0})
            if (end_ / step > kAbout) step = factor * power;
        for (double time = 0; time <= end_; time += step) {
            canvas_.line({at(time), -2}, {at(time), bottom_}, kTick, Part::Rule);
            canvas_.text(plain_text(std::to_string(std::llround(time))),
                         {at(time), bottom_ + 1.2 * kTextSize}, Anchor::Middle, kTextSize);
        }
        canvas_.line({0, bottom_}, {kWidth, bottom_}, kOutline, Part::Rule);
        canvas_.text(plain_text(chart_.unit), {kWidth, bottom_ + 2.5 * kTextSize}, Anchor::Right,
                     kTextSize);
    }

    void name(std::size_t row) {
        const double y = tops_[row] + 0.5 * kRow + 0.3 * kTextSize;
        canvas_.text(plain_text(chart_.rows[row]), {-kGap, y}, Anchor::Right, kTextSize);
        if (row == 0 || chart_.groups[row] != chart_.groups[row - 1])
            canvas_.text(plain_text(chart_.groups[row]), {-names_width_ - 3 * kGap, y},
                         Anchor::Right, kTextSize);
    }

    void draw(const RowBar& bar) {
        const double top = tops_[bar.row] + (kRow - kBar) / 2;
        const Box2 box{at(bar.begin), top, at(bar.end), top + kBar};
        const Color fill = bar.turn % 2 == 0 ? kWhite : kGreyFill;
        canvas_.rectangle(box, fill, kOutline, Part::Glyph);
        canvas_.element("bar", "box", bar.tooltip, box);
        const std::string number = std::to_string(bar.turn);
        for (const std::string& label : {bar.name + " " + number, number}) {
            const MathText text = plain_text(label);
            if (width_of(text, kTextSize) + 2 > box.right - box.left) continue;
            canvas_.text(text, {(box.left + box.right) / 2, top + 0.5 * kBar + 0.3 * kTextSize},
                         Anchor::Middle, kTextSize);
            return;
        }
    }

    const BarRows& chart_;
    Canvas canvas_;
    double end_ = 0;
    double bottom_ = 0;
    double names_width_ = 0;
    std::vector<double> tops_;
};

}  // namespace

Canvas draw_bar_rows(const BarRows& chart) {
    return RowPainter(chart).run();
}

}  // namespace napkin::drawing
