// What happens when, as bars in rows over time: those of one turn white, of the next grey, each
// with its name where it has room.
#pragma once

#include <string>
#include <vector>

#include "diagrams/drawing/canvas.h"

namespace napkin::drawing {

struct RowBar {
    std::size_t row = 0;
    double begin = 0;
    double end = 0;
    std::string name;
    std::string tooltip;
    std::int64_t turn = 0;
};
struct BarRows {
    std::string title;
    std::vector<std::string> groups;  ///< of each row; told once where neighbours share it
    std::vector<std::string> rows;
    std::vector<RowBar> bars;
    std::string unit;  ///< of the times
};
[[nodiscard]] Canvas draw_bar_rows(const BarRows& chart);

}  // namespace napkin::drawing
