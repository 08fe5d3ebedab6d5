// The fixed parts of exported files, embedded as text (codegen/export/templates), with places
// `@name@` to be filled.
#pragma once

#include <map>
#include <string>

namespace napkin {

[[nodiscard]] const char* export_header_template();
[[nodiscard]] const char* export_launcher_template();
[[nodiscard]] const char* export_maps_template();
[[nodiscard]] const char* export_selftest_template();
[[nodiscard]] const char* export_images_template();
[[nodiscard]] const char* export_cmake_template();
[[nodiscard]] const char* export_pyproject_template();
[[nodiscard]] const char* export_operator_template();
[[nodiscard]] const char* export_operator_maps_template();
[[nodiscard]] const char* export_operator_gradient_template();
[[nodiscard]] const char* export_readme_template();

namespace exporting {

/// The text with every `@name@` replaced; a line that is nothing but a place whose filling is empty
/// goes away. Throws InternalError for a place without filling.
[[nodiscard]] std::string fill(const std::string& text,
                               const std::map<std::string, std::string>& places);

}  // namespace exporting
}  // namespace napkin
