// Brackets under a row: what is done again for every chunk of a streamed axis, and how far each of
// several kernels goes.
#pragma once

#include <vector>

#include "diagrams/drawing/painter.h"

namespace napkin::drawing {

void add_brackets(Canvas& row, const Diagram& diagram, const Relabelling& relabelling,
                  const DrawOptions& options, const System& system,
                  const std::vector<Column>& columns);

}  // namespace napkin::drawing
