// Names of a plot's dots: beside them where every name has room, else numbers with a key below.
#pragma once

#include <string>
#include <vector>

#include "diagrams/drawing/canvas.h"

namespace napkin::drawing {

struct NamedDot {
    std::string name;
    Dot dot;
};

/// Where names stand, and what they keep clear of where they can.
struct DotField {
    Box2 area;
    std::vector<Line> curves;
    double key_top = 0;
    double size = 11;  ///< of the type
};

/// Adds the names, not the dots.
void name_dots(Canvas& canvas, const std::vector<NamedDot>& dots, const DotField& field);

}  // namespace napkin::drawing
