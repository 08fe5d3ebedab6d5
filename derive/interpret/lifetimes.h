// When the interpreter frees a variable: after the last statement, in program order, that reads it.
// A variable that is read inside a loop but defined outside of it lives until the loop ends.
#pragma once

#include <map>
#include <vector>

#include "derive/region_program.h"

namespace napkin {

/// For each statement (by address), the variables taken when it begins and freed when it is done.
struct Lifetimes {
    std::map<const TileStatement*, std::vector<VariableId>> births;
    std::map<const TileStatement*, std::vector<VariableId>> deaths;
};
[[nodiscard]] Lifetimes lifetimes_of(const RegionProgram& region);
}  // namespace napkin
