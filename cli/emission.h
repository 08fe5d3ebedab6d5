// What the arguments ask of kernels.
#pragma once

#include "cli/commands.h"
#include "codegen/emit.h"

namespace napkin::cli {

/// Target, threads and architecture as given; headers name the derivation by its hash.
[[nodiscard]] Result<EmitOptions> emit_options(const Context& context,
                                               const std::string& hash = {});
/// The same for the CUDA device that is there; as given where there is none.
[[nodiscard]] Result<EmitOptions> emit_options_for_device(const Context& context);

}  // namespace napkin::cli
