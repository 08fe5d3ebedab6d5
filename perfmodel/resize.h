// A tile program at other sizes, without deriving it again: search evaluates many.
#pragma once

#include "derive/tile_program.h"

namespace napkin {

/// The region with sizes of groups and streams put in. Capacities follow from
/// their formulas; one that is a number (an affine index) stays as it was.
[[nodiscard]] RegionProgram resized(RegionProgram region, const SymbolValues& sizes);

/// A at a level in bits, in numbers alone; nullopt on overflow.
[[nodiscard]] std::optional<std::int64_t> allocated_bits(const RegionProgram& region, Level level);

}  // namespace napkin
