// Wording of the diagnostics of exporting: one factory a code.
#pragma once

#include <string>

#include "diagrams/diagnostic.h"
#include "diagrams/gradient.h"

namespace napkin::messages {

[[nodiscard]] Diagnostic bad_export_name(const std::string& name);
[[nodiscard]] Diagnostic half_a_byte(const std::string& array);
[[nodiscard]] Diagnostic split_bytes(const std::string& array, const std::string& axis,
                                     std::int64_t size);
[[nodiscard]] Diagnostic nothing_to_export();
[[nodiscard]] Diagnostic no_image(const std::string& architecture, const std::string& compiler);
[[nodiscard]] Diagnostic gradient_differs(const std::string& how, const std::string& help);
/// `sizes` as text.
[[nodiscard]] Diagnostic no_gradient(const std::string& gradient, const std::string& of,
                                     const GradientSlope& slope, const std::string& sizes);
[[nodiscard]] Diagnostic foreign_file(const std::string& path, const std::string& command);
/// Of an export into the folder of another.
[[nodiscard]] Diagnostic another_export(const std::string& folder, const std::string& name);
[[nodiscard]] Diagnostic not_a_folder(const std::string& path);

}  // namespace napkin::messages
