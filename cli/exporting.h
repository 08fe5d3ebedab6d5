// An export as the arguments ask for it, before it is written anywhere.
#pragma once

#include <optional>
#include <vector>

#include "cli/clearance.h"
#include "cli/session.h"
#include "codegen/export/export.h"

namespace napkin::cli {

/// A program of an export, and what vouches for it.
struct ExportedProgram {
    Loaded loaded;
    ExportKernels kernels;
    ExportOptions options;
    Clearance clearance = {};
    std::vector<SelfTestCase> cases = {};
};

/// The kernels of a derivation, under the name that the arguments give it; neither proved nor with
/// results yet, which takes the longest.
[[nodiscard]] Result<ExportedProgram> begin_export(Context& context, Loaded loaded);
/// Proves it, computes the self-test's results, and compiles what the arguments want compiled of
/// the `planned` files.
[[nodiscard]] std::optional<Diagnostics> finish_export(Context& context,
                                                       const std::vector<ExportedFile>& planned,
                                                       ExportedProgram& part);
/// All files of a program, or of a program and its gradient, with the certificates that there are.
[[nodiscard]] Result<std::vector<ExportedFile>> exported_files(
    const std::vector<ExportedProgram>& parts);

}  // namespace napkin::cli
