// Curves over logarithmic axes, told apart without colours: by dash and width, each named where it
// ends.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "diagrams/drawing/canvas.h"

namespace napkin::drawing {

struct PlotAxis {
    std::string title;
    std::function<std::string(double)> text;  ///< of a tick
};

/// Points left to right, all above zero.
struct Curve {
    std::string name;
    std::vector<Point> points;
    Dash dash = Dash::Solid;
    double width = 1.2;
};

/// A place on the plot: a dot with a name, or a letter in its place; where it has no height, a
/// vertical line.
struct PlotMark {
    std::string name;
    double x = 0;
    double y = 0;
    std::string letter{};
};

struct Plot {
    std::string title;
    PlotAxis x;
    PlotAxis y;
    std::vector<Curve> curves;
    std::vector<PlotMark> marks;
};
[[nodiscard]] Canvas draw_plot(const Plot& plot);

}  // namespace napkin::drawing
