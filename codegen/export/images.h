// Kernels of an export as devices take them, so that building its library needs no nvcc.
#pragma once

#include <string>
#include <vector>

#include "codegen/emit.h"
#include "codegen/run/compile.h"

namespace napkin {

struct ExportedImage {
    std::string code;  ///< a cubin, or the text of PTX
    KernelImage kind = KernelImage::Cubin;
    int capability = 0;  ///< ten times the compute capability that it was made for
    bool alone = false;  ///< whether no other runs it
};

struct ExportedImages {
    std::string compiler;             ///< `NVRTC 13.0`
    std::vector<ExportedImage> list;  ///< the newest cubin first, PTX last
    [[nodiscard]] bool empty() const { return list.empty(); }
};

/// Compiles an export's source for each architecture, and where later devices run its kernels, to
/// PTX besides. A diagnostic where there is no NVRTC, where it does not know an architecture, or
/// where kernels do not run there.
[[nodiscard]] Result<ExportedImages> compile_images(const EmittedProgram& program,
                                                    const std::string& source,
                                                    const std::vector<std::string>& architectures);

}  // namespace napkin
