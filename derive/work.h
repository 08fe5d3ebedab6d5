// What executing something takes, counted from shapes before anything is allocated.
#pragma once

#include "derive/tile_program.h"

namespace napkin {

struct Work {
    double values = 0;  ///< held at once
    double places = 0;  ///< of the iteration spaces of statements
    double steps = 0;   ///< parts of expressions evaluated, values moved
};

/// Of the diagram, statement by statement, with whole arrays.
[[nodiscard]] Work work_of(const Diagram& diagram);
/// Of the program, without its inputs and outputs, as the interpreter runs it and as the checker of
/// certificates does, which keeps whole arrays for variables; masks are taken to leave every chunk.
[[nodiscard]] Work work_of(const TileProgram& program);

}  // namespace napkin
