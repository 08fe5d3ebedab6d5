// From states to tile programs, and their text.
#pragma once

#include <string>

#include "derive/region_program.h"
#include "derive/step.h"

namespace napkin {

/// Opaque boxes have no meaning to execute, but costs and pictures need none.
enum class OpaqueBoxes { Refuse, Keep };
/// Expands a state; every relabelling that the rules produce expands.
[[nodiscard]] Result<TileProgram> expand(const State& state,
                                         OpaqueBoxes opaque = OpaqueBoxes::Refuse);
/// One region of a state. What it loads and saves does not depend on how the others are tiled.
[[nodiscard]] Result<RegionProgram> expand(const State& state, const Region& region,
                                           OpaqueBoxes opaque = OpaqueBoxes::Refuse);
/// Readable pseudocode.
[[nodiscard]] std::string print(const TileProgram& program, const SourceMap& sources);

}  // namespace napkin
