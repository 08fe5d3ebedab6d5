// Which statements a tensor core could do.
#pragma once

#include <optional>

#include "derive/tile_program.h"

namespace napkin {

/// The type of the operands of a sum of products of two or more varying reads: the widest among
/// its operands that come from device memory, else the widest of all (a computed operand is
/// converted to the type of the other); nullopt for statements that are no contraction.
[[nodiscard]] std::optional<ElementType> contraction_type(const RegionProgram& region,
                                                          const Compute& compute);

}  // namespace napkin
