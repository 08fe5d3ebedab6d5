// The kernels of a derivation as a graph: a box a kernel with what it loads of the inputs, an arrow
// for what flows from one to another.
#pragma once

#include "diagrams/drawing/canvas.h"
#include "diagrams/relabelling.h"
#include "diagrams/result.h"

namespace napkin::drawing {

/// Laid out by Graphviz from left to right, or downwards where that is wider than `max_width`
/// points. A diagnostic where Graphviz lacks the plugin.
[[nodiscard]] Result<Canvas> draw_overview(const Diagram& diagram, const Relabelling& relabelling,
                                           double max_width);

}  // namespace napkin::drawing
