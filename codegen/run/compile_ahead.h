// Compiles many kernels at once, in processes of their own, for those who need all of them soon.
#pragma once

#include <functional>
#include <vector>

#include "codegen/run/compile.h"

namespace napkin {

/// Told how many of the kernels are done; false stops the rest.
using CompileProceed = std::function<bool(std::size_t done)>;

/// Compiles kernels into what is kept on disk, `jobs` at a time, so that `compile` finds them
/// there. What goes wrong is left for `compile` to say.
void compile_ahead(const std::vector<const EmittedKernel*>& kernels, const CompileOptions& options,
                   std::size_t jobs, const CompileProceed& proceed = {});

}  // namespace napkin
