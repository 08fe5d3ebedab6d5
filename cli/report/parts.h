// The fixed parts of a report's page, as they are built into the binary: files of this folder.
#pragma once

namespace napkin {

/// In which words between `@` stand for what is filled in.
[[nodiscard]] const char* report_page();
[[nodiscard]] const char* report_style();
[[nodiscard]] const char* report_figures();
[[nodiscard]] const char* report_formulas();
[[nodiscard]] const char* report_kernels();
[[nodiscard]] const char* report_model();
[[nodiscard]] const char* report_plots();
[[nodiscard]] const char* report_script();
/// What slides have besides.
[[nodiscard]] const char* report_slides_style();
[[nodiscard]] const char* report_slides_script();
/// Likewise, of the teacher's sheet.
[[nodiscard]] const char* report_sheet();
/// Of a page that follows a session, likewise.
[[nodiscard]] const char* report_live();

}  // namespace napkin
