// Plots: names stand clear of each other and of marked places' lines, and a single point shows.
#include <doctest/doctest.h>

#include <set>

#include "diagrams/drawing/plot.h"

namespace napkin::drawing {
namespace {

template <class Shape>
std::vector<Operation> all_of_kind(const Canvas& canvas) {
    std::vector<Operation> found;
    for (const Operation& operation : canvas.operations)
        if (std::holds_alternative<Shape>(operation.shape)) found.push_back(operation);
    return found;
}

Plot plot_of(std::vector<PlotMark> marks, std::vector<Point> points) {
    const auto text = [](double value) { return std::to_string(static_cast<int>(value)); };
    Plot plot{"plot", {"x", text}, {"y", text}, {{"curve", std::move(points)}}, {}};
    plot.marks = std::move(marks);
    return plot;
}

bool is_mark(const Line& line) {
    return line.points.size() == 2 && line.stroke.dash == Dash::Dotted;
}

}  // namespace

TEST_CASE("plots: no name lies on another, nor on the line of a marked place") {
    const std::vector<Point> points = {{1, 1}, {1000, 1000}};
    for (const Plot& plot :
         {plot_of({{"the first of two dots", 10, 2}, {"the second of two dots", 20, 2}}, points),
          plot_of({{"one near the axis", 10, 1}, {"one on the same spot", 10, 1}}, points),
          plot_of({{"a long name of a place", 300, 0},
                   {"a long name of another", 200, 0},
                   {"a short one", 2, 0},
                   {"a long name of a third", 400, 0}},
                  points)}) {
        const Canvas canvas = draw_plot(plot);
        const std::vector<Operation> texts = all_of_kind<Text>(canvas);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            for (std::size_t k = i + 1; k < texts.size(); ++k)
                CHECK_FALSE(overlap(bounds_of(texts[i]), bounds_of(texts[k])));
            for (const Operation& line : all_of_kind<Line>(canvas))
                if (is_mark(std::get<Line>(line.shape)))
                    CHECK_FALSE(overlap(bounds_of(texts[i]), bounds_of(line)));
        }
    }
}

TEST_CASE("plots: dots whose names have no room are numbered, and a key says what they are") {
    std::vector<PlotMark> marks;
    for (int i = 0; i < 60; ++i)
        marks.push_back({"a kernel of a long name, the " + std::to_string(i) + "th",
                         400.0 + 5 * (i % 20), 300.0 + 100 * (i / 20)});
    marks.push_back({"a kernel that stands alone", 2, 500});
    const Canvas canvas = draw_plot(plot_of(marks, {{1, 1}, {1000, 1000}}));
    const std::vector<Operation> texts = all_of_kind<Text>(canvas);
    const std::vector<Operation> dots = all_of_kind<Dot>(canvas);
    CHECK_EQ(dots.size(), marks.size());
    std::set<std::string> written;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        written.insert(to_unicode(std::get<Text>(texts[i].shape).text));
        for (std::size_t k = i + 1; k < texts.size(); ++k)
            CHECK_FALSE(overlap(bounds_of(texts[i]), bounds_of(texts[k])));
        for (const Operation& dot : dots) CHECK_FALSE(overlap(bounds_of(texts[i]), bounds_of(dot)));
    }
    for (const PlotMark& mark : marks) CHECK(written.contains(mark.name));
    for (std::size_t i = 0; i < marks.size(); ++i) CHECK(written.contains(std::to_string(i + 1)));
    for (const char* label : {"1", "2-21", "22-41", "42-61"}) CHECK(written.contains(label));
}

TEST_CASE("plots: a curve of one point is a dot, between ticks") {
    const Canvas canvas = draw_plot(plot_of({}, {{64, 7}}));
    CHECK_EQ(all_of_kind<Dot>(canvas).size(), 1);
    CHECK_GE(all_of_kind<Text>(canvas).size(), 6);
}

}  // namespace napkin::drawing
