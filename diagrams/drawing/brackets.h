// Brackets under a row: what is done again for every chunk of a streamed axis, and how far each of
// several kernels goes.
#pragma once

#include "diagrams/drawing/painter.h"

namespace napkin::drawing {

void add_brackets(Canvas& row, const Contents& contents, const DrawOptions& options,
                  const System& system);

}  // namespace napkin::drawing
