// Exports: a program's kernels with all that a project without napkin needs to compile, call, test
// and trust them. Texts only; who calls decides where they are written.
//
// The folder holds the kernels as one CUDA source without includes, a launcher in C that checks the
// contract, an operator for PyTorch that compiles the same source when it is loaded, self-tests
// against stored results, and projects that install both as packages, for CMake and pip.
// docs/export.md tells how they are used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/export/images.h"
#include "codegen/export/kernels.h"
#include "codegen/export/selftest.h"
#include "derive/state.h"

namespace napkin {

struct ExportOptions {
    std::string version;  ///< of napkin, for the headers
    /// The diagram as it was written, for the headers.
    std::string diagram_text;
    /// The hash of a certificate that proves the derivation; empty when there is none.
    std::string certificate;
    /// Why there is none.
    std::string reservation = {};
    /// Where there are some, the library is made of them.
    ExportedImages images = {};
    /// What is known of overflow, a sentence.
    std::string safety = {};
    /// Of a gradient: what differences of the other program say of it.
    std::string judged_gradient = {};
};

/// One file of an export, by its name in the folder.
struct ExportedFile {
    std::string name;
    std::string text;
    bool operator==(const ExportedFile&) const = default;
};

/// What every exported file has in its first lines; who overwrites files looks for it.
inline constexpr std::string_view kExportMark = "Written by napkin export";

/// Names files, functions and the operator: a word of letters, digits and underscores that is no
/// keyword. A diagnostic otherwise.
[[nodiscard]] std::optional<Diagnostic> check_export_name(const std::string& name);

/// A program that is exported; the diagram's name names everything.
struct ExportPart {
    const State& state;
    const ExportKernels& kernels;  ///< emitted from `state`
    const std::vector<SelfTestCase>& cases;
    const ExportOptions& options;
};

/// All files. With `gradient`, which computes `dQ` for every floating input `Q` from inputs,
/// outputs and gradients `dO` of outputs `O`, the folder holds both programs, and the operator has
/// a backward; a diagnostic where the two do not fit.
[[nodiscard]] Result<std::vector<ExportedFile>> export_program(
    const ExportPart& part, const ExportPart* gradient = nullptr);

}  // namespace napkin
