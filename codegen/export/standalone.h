// Kernels as one CUDA source that needs no other file: the device primitives are written out.
#pragma once

#include <string>
#include <vector>

#include "codegen/export/kernels.h"

namespace napkin::exporting {

/// The header of the prelude that a source includes, and all that it includes, once each, as a GPU
/// sees it: branches for the emulator are left out.
[[nodiscard]] std::string inlined_prelude(const std::vector<std::string>& includes);

/// Header lines (without `//`), the primitives, the kernels in namespaces of their own, and for the
/// launcher `cudaError_t NAME_kernel(int number, const void **function)`. Compiles with nvcc and
/// NVRTC; with NAPKIN_ONLY_STRIDED or NAPKIN_ONLY_CONTIGUOUS, what only other arrays need is left
/// out.
[[nodiscard]] std::string standalone_source(const ExportKernels& kernels,
                                            const std::vector<std::string>& header);

}  // namespace napkin::exporting
