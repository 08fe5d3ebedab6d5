// Wording of the command line's own errors, one factory function per code (E9...).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diagrams/diagnostic.h"
#include "perfmodel/time.h"

namespace napkin::cli {

[[nodiscard]] Diagnostic cannot_write(const std::string& path, const std::string& reason);
[[nodiscard]] Diagnostic read_only(const std::string& path);
[[nodiscard]] Diagnostic output_is_input(const std::string& path, const std::string& input);
[[nodiscard]] Diagnostic output_is_source(const std::string& path, const std::string& source);
[[nodiscard]] Diagnostic output_is_no_derivation(const std::string& path);
[[nodiscard]] Diagnostic output_is_no_live_page(const std::string& path);
[[nodiscard]] Diagnostic malformed_set(const std::string& text);
[[nodiscard]] Diagnostic repeated_set(const std::string& first, const std::string& second);
[[nodiscard]] Diagnostic repeated_tensor(const std::string& option, const std::string& first,
                                         const std::string& second);
[[nodiscard]] Diagnostic repeated_output(const std::string& path);
[[nodiscard]] Diagnostic malformed_tensor_option(const std::string& option,
                                                 const std::string& text);
[[nodiscard]] Diagnostic unknown_tensor(const std::string& option, const std::string& name,
                                        const std::vector<std::string>& known);
[[nodiscard]] Diagnostic capacity_exceeded(const Excess& excess, const std::string& machine);
/// Of `draw --region`, in the words of the rules.
/// Of a picture in a terminal.
[[nodiscard]] Diagnostic too_few_columns(int wanted, int least);
[[nodiscard]] Diagnostic unknown_region(const std::string& reason, const std::string& help);
[[nodiscard]] Diagnostic law_without_picture(const std::string& command);
/// Of `mask`.
[[nodiscard]] Diagnostic no_mask(const std::string& diagram);
[[nodiscard]] Diagnostic uncounted_mask(const std::string& statement);
[[nodiscard]] Diagnostic data_in_mask(const std::string& statement);
[[nodiscard]] Diagnostic row_not_compressed(const std::string& row, bool is_longer);
[[nodiscard]] Diagnostic no_compressed_row(const std::string& path, std::int64_t line);
[[nodiscard]] Diagnostic rows_missing(const std::string& path, std::int64_t lines);
[[nodiscard]] Diagnostic row_past_columns(const std::string& path, std::int64_t line,
                                          std::int64_t columns);
[[nodiscard]] Diagnostic no_mask_matrix(const std::string& path, const std::string& why);
[[nodiscard]] Diagnostic blocks_differ(const std::string& axis, std::int64_t extent,
                                       std::int64_t size);
/// With the arrays in whose definitions they stand, and the kernels.
[[nodiscard]] Diagnostic several_masks(std::size_t count,
                                       const std::vector<std::string>& statements,
                                       const std::vector<std::string>& kernels);
/// With those that there are, `M in kernel O`.
[[nodiscard]] Diagnostic no_such_mask(const std::vector<std::string>& masks);
[[nodiscard]] Diagnostic mask_ending_unknown(const std::string& path);
[[nodiscard]] Diagnostic page_ending_unknown(const std::string& path);
[[nodiscard]] Diagnostic mask_form_unfit(const std::string& form, const std::string& path);
[[nodiscard]] Diagnostic option_of_a_diagram(const std::string& option, const std::string& path);
[[nodiscard]] Diagnostic diagram_for_derivation(const std::string& path);
[[nodiscard]] Diagnostic derivation_for_diagram(const std::string& path);
[[nodiscard]] Diagnostic mask_folder_missing(const std::string& form);
[[nodiscard]] Diagnostic several_cubins(std::size_t count);
[[nodiscard]] Diagnostic after_without_schedule();
[[nodiscard]] Diagnostic no_passes(const std::string& region, const std::string& target);
[[nodiscard]] Diagnostic nothing_computed(const std::string& array);
[[nodiscard]] Diagnostic opaque_has_no_values();
/// Of an option that means nothing beside the others.
[[nodiscard]] Diagnostic unused_option(const std::string& option, const std::string& why,
                                       const std::string& help);
[[nodiscard]] Diagnostic too_large_to_emulate(double work);
[[nodiscard]] Diagnostic unknown_dynamic_axis(const std::string& axis,
                                              const std::vector<std::string>& known);
[[nodiscard]] Diagnostic unknown_setting(const std::string& name,
                                         const std::vector<std::string>& axes,
                                         const std::vector<std::string>& parameters);
[[nodiscard]] Diagnostic certificate_of_another(const std::string& path, const std::string& stated,
                                                const std::string& wanted);
/// All in bytes.
[[nodiscard]] Diagnostic too_much_memory(double inputs, double results, double tiles, double left);
/// In bytes; of an axis whose size may be given at run time.
[[nodiscard]] Diagnostic self_test_too_large(double inputs, double left, const std::string& axis);
[[nodiscard]] Diagnostic set_no_size(const std::string& axis, const std::string& value);
[[nodiscard]] Diagnostic set_no_value(const std::string& parameter, const std::string& type,
                                      const std::string& value);

/// Mistakes in what a file names, with the place where it does.
[[nodiscard]] Diagnostics named_at(Diagnostics problems, Span place);

/// `a, b and c`, or `nothing`.
[[nodiscard]] std::string listed(const std::vector<std::string>& words);

}  // namespace napkin::cli
