// What executing something takes, counted from shapes before anything is allocated.
#pragma once

#include "derive/region_program.h"

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

/// Values that a run of the program by the interpreter holds at once.
struct Held {
    double inputs = 0;
    double results = 0;  ///< of all that regions save
    double tiles = 0;    ///< of the region with the most, every processor's at their widest
};
[[nodiscard]] Held held_by_run(const Diagram& diagram, const TileProgram& program);

}  // namespace napkin
