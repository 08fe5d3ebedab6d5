// Kernels as one CUDA source that needs no other file: the device primitives are written out.
#pragma once

#include <string>
#include <vector>

#include "codegen/emit.h"

namespace napkin::exporting {

/// The header of the prelude that a source includes, and all that it includes, once each, as a GPU
/// sees it: branches for the emulator are left out.
[[nodiscard]] std::string inlined_prelude(const std::vector<std::string>& includes);

/// Header lines (without `//`), the primitives, the kernels in namespaces of their own, and for the
/// launcher `cudaError_t NAME_kernel(int number, const void **function)`. Compiles with nvcc and
/// NVRTC.
[[nodiscard]] std::string standalone_source(const EmittedProgram& program,
                                            const std::vector<std::string>& header);

}  // namespace napkin::exporting
