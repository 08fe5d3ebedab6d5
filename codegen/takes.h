// Whether a kernel can be made, for those that try many and ask of none why not.
#pragma once

#include "codegen/emit.h"

namespace napkin {

/// Whether the options' target, or the one before it as for `emit`, takes a region of a state.
[[nodiscard]] bool takes(const State& state, const RegionProgram& region,
                         const EmitOptions& options);

}  // namespace napkin
