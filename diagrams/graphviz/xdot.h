// A canvas in Graphviz' drawing language, to stand behind a graph.
#pragma once

#include <string>

#include "diagrams/drawing/canvas.h"

namespace napkin::drawing {

[[nodiscard]] std::string to_xdot(const Canvas& canvas);

}  // namespace napkin::drawing
