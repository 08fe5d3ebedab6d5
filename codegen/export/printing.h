// The files of an export, one function each.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/export/contract.h"
#include "codegen/export/gradient.h"
#include "codegen/export/images.h"
#include "codegen/export/kernels.h"
#include "codegen/export/selftest.h"
#include "codegen/export/size_code.h"

namespace napkin::exporting {

/// What files share: the fillings of `@name@`, `@NAME@`, `@mark@`, `@summary@`.
using Places = std::map<std::string, std::string>;

[[nodiscard]] std::string print_header(const Contract& contract, const EmittedProgram& program,
                                       Places places, const std::vector<std::string>& description);
[[nodiscard]] std::string print_launcher(const Contract& contract, const ExportKernels& kernels,
                                         Places places);
[[nodiscard]] std::string print_selftest(const Contract& contract, Places places);
[[nodiscard]] std::string print_cases(const Contract& contract,
                                      const std::vector<SelfTestCase>& cases, const Places& places);
/// `gradient` is how its gradient is called; null where there is none.
[[nodiscard]] std::string print_operator(const Contract& contract, const ExportKernels& kernels,
                                         const GradientCall* gradient, Places places,
                                         const std::vector<std::string>& description);
[[nodiscard]] std::string print_images(const ExportKernels& kernels, const ExportedImages& images,
                                       Places places);
/// Of the folder: the first of the programs names it.
[[nodiscard]] std::string print_cmake(const std::vector<std::string>& programs,
                                      const ExportedImages& images, Places places);
[[nodiscard]] std::string print_python_project(const std::vector<std::string>& programs,
                                               Places places);

/// `ATTENTION_BF16`, of the header.
[[nodiscard]] std::string type_constant(const Contract& contract, ElementType type);
/// `O = attention(Q, K, V, cap=50.0)`.
[[nodiscard]] std::string call_text(const Contract& contract);
/// A scalar's default as a literal.
[[nodiscard]] std::string number_text(const ContractScalar& scalar, Language language);
[[nodiscard]] std::string upper(std::string text);
/// The texts, each after `before` and followed by a line's end.
[[nodiscard]] std::string lines_text(const std::vector<std::string>& lines,
                                     const std::string& before);

}  // namespace napkin::exporting
