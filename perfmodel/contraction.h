// In which type a contraction is multiplied, as far as that does not depend on the target.
#pragma once

#include <optional>

#include "derive/tile_program.h"

namespace napkin {

inline constexpr std::int64_t kMultiplyAdd = 2;  ///< operations of a product in a contraction

/// The type in which a tensor core multiplies the operands of what is a contraction whatever the
/// sizes of tiles; nullopt where it is none, its result is integral, or an operand is an input of a
/// type that none takes.
[[nodiscard]] std::optional<ElementType> type_of_products(const RegionProgram& region,
                                                          const Compute& compute);

}  // namespace napkin
