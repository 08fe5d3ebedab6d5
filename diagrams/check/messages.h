// The catalogue of what the checker says: one factory a code. E02xx are names, E03xx sizes and
// axes, E04xx types, bounds and structure, W05xx warnings. Each code has an input and its rendered
// message under tests/golden/errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diagrams/diagnostic.h"

namespace napkin::messages {

// Names. `meant` is the nearest known name, empty when there is none.
[[nodiscard]] Diagnostic unknown_name(Span place, std::string_view name, std::string_view meant,
                                      bool in_index);  // E0201
[[nodiscard]] Diagnostic unknown_axis(Span place, std::string_view name, std::string_view meant,
                                      std::size_t more_places);  // E0202
[[nodiscard]] Diagnostic unknown_array(Span place, std::string_view name,
                                       std::string_view meant);  // E0203
[[nodiscard]] Diagnostic unknown_operation(Span place, std::string_view name,
                                           std::string_view meant);  // E0204
[[nodiscard]] Diagnostic unknown_reduction(Span place, std::string_view name,
                                           std::string_view meant, bool scanned);  // E0205
[[nodiscard]] Diagnostic selection_scanned(Span place, std::string_view name);     // E0428
[[nodiscard]] Diagnostic unknown_glyph(Span place, std::string_view name, std::string_view meant,
                                       const std::vector<std::string>& known);          // E0214
[[nodiscard]] Diagnostic defined_twice(Span place, std::string_view name, Span first);  // E0206
[[nodiscard]] Diagnostic used_before(Span place, std::string_view name,
                                     Span definition);                     // E0207
[[nodiscard]] Diagnostic built_in(Span place, std::string_view name);      // E0208
[[nodiscard]] Diagnostic axis_indexed(Span place, std::string_view name);  // E0209
[[nodiscard]] Diagnostic outside_definition(Span place, std::string_view name,
                                            std::string_view definition);  // E0210
[[nodiscard]] Diagnostic not_an_input(Span place, std::string_view name,
                                      std::string_view meant);                         // E0211
[[nodiscard]] Diagnostic unknown_size(std::string_view name, std::string_view meant);  // E0212
[[nodiscard]] Diagnostic recursive_definition(Span place, std::string_view name);      // E0213

// Sizes and axes.
[[nodiscard]] Diagnostic repeated_axis(Span place, std::string_view axis,
                                       std::string_view owner);  // E0301
[[nodiscard]] Diagnostic wrong_index_count(Span place, std::string_view array, std::size_t given,
                                           const std::vector<std::string>& axes);  // E0302
[[nodiscard]] Diagnostic sizes_differ(Span place, std::string_view array, std::string_view index,
                                      std::string_view index_size, std::string_view axis,
                                      std::string_view axis_size);  // E0303
/// Sizes differ where a read has the array's axes in another order than `declared`, `W[d, f]`.
[[nodiscard]] Diagnostic axes_swapped(Span place, std::string_view read,
                                      std::string_view declared);  // E0320
[[nodiscard]] Diagnostic size_below_one(Span place, std::string_view axis,
                                        std::string_view size);  // E0304
[[nodiscard]] Diagnostic size_not_whole(Span place, std::string_view axis, std::string_view size,
                                        bool is_number);                  // E0305
[[nodiscard]] Diagnostic cyclic_size(Span place, std::string_view axis);  // E0306
[[nodiscard]] Diagnostic too_many_elements(Span place, std::string_view array,
                                           std::string_view product);  // E0307
[[nodiscard]] Diagnostic derived_size(Span place, std::string_view axis,
                                      std::string_view formula);  // E0308
[[nodiscard]] Diagnostic unbound_axis(Span place, std::string_view axis,
                                      std::string_view target);  // E0309
[[nodiscard]] Diagnostic not_a_layout(Span place, std::string_view array,
                                      const std::vector<std::string>& axes);  // E0310
[[nodiscard]] Diagnostic not_a_size(Span place);                              // E0311
[[nodiscard]] Diagnostic size_too_large(Span place, std::string_view axis,
                                        std::string_view size);             // E0318
[[nodiscard]] Diagnostic size_overflow(Span place, std::string_view axis);  // E0312
[[nodiscard]] Diagnostic rank_too_large(Span place, std::string_view rank, std::int64_t rank_size,
                                        std::string_view axis, std::int64_t size);  // E0313
[[nodiscard]] Diagnostic rank_at_run_time(Span place, std::string_view rank,
                                          std::string_view axis);            // E0327
[[nodiscard]] Diagnostic no_rank_axis(Span place, std::string_view target);  // E0314
[[nodiscard]] Diagnostic scan_axis_missing(Span place, std::string_view axis,
                                           std::string_view target);                // E0315
[[nodiscard]] Diagnostic several_axes_as_index(Span place, std::string_view name);  // E0316
[[nodiscard]] Diagnostic wrong_axis_count(Span place, std::string_view name, std::size_t given,
                                          std::size_t wanted, std::string_view form);  // E0317
[[nodiscard]] Diagnostic set_below_one(std::string_view axis, std::int64_t size);      // E0319

// Types, bounds and structure.
[[nodiscard]] Diagnostic bool_in_arithmetic(Span place, std::string_view where);  // E0401
[[nodiscard]] Diagnostic not_a_condition(Span place, std::string_view where);     // E0402
[[nodiscard]] Diagnostic real_index(Span place, std::string_view index,
                                    std::string_view array);              // E0403
[[nodiscard]] Diagnostic integers_only(Span place, std::string_view op);  // E0404
[[nodiscard]] Diagnostic bool_mixed(Span place, std::string_view what);   // E0405
[[nodiscard]] Diagnostic type_mismatch(Span place, std::string_view target, std::string_view type,
                                       bool value_is_bool);  // E0406
[[nodiscard]] Diagnostic exponent_not_constant(Span place);  // E0407
[[nodiscard]] Diagnostic out_of_range(Span place, std::string_view access, std::string_view index,
                                      std::string_view range, std::string_view axis,
                                      std::string_view last, std::string guard);  // E0408
[[nodiscard]] Diagnostic index_from_data(Span place, std::string_view access,
                                         std::string_view index, std::string_view axis,
                                         std::string guard);                               // E0409
[[nodiscard]] Diagnostic nested_reduction(Span place, std::string_view axis, Span outer);  // E0410
[[nodiscard]] Diagnostic wrong_argument_count(Span place, std::string_view name, std::size_t given,
                                              std::string_view wanted,
                                              const std::string& signature = {});  // E0411
[[nodiscard]] Diagnostic whole_side_only(Span place, std::string_view name);       // E0412
[[nodiscard]] Diagnostic target_count(Span place, std::string_view what, std::size_t given,
                                      std::string_view wanted);  // E0413
[[nodiscard]] Diagnostic targets_disagree(Span place, std::string_view first,
                                          std::string_view second);        // E0414
[[nodiscard]] Diagnostic no_output(Span place, std::string_view diagram);  // E0415
[[nodiscard]] Diagnostic too_large(Span place, std::size_t most);          // E0416
[[nodiscard]] Diagnostic not_constant(Span place, std::string_view what);  // E0417
[[nodiscard]] Diagnostic operand_count(Span place, std::string_view monoid, std::size_t given,
                                       std::size_t wanted);                       // E0418
[[nodiscard]] Diagnostic no_diagram(Span place);                                  // E0419
[[nodiscard]] Diagnostic let_with_type(Span place, std::string_view name);        // E0420
[[nodiscard]] Diagnostic no_operand(Span place, std::string_view name);           // E0421
[[nodiscard]] Diagnostic parameter_with_axes(Span place, std::string_view name);  // E0422
[[nodiscard]] Diagnostic value_of_other_type(Span place, std::string_view name,
                                             std::string_view type,
                                             std::string_view value);  // E0424
[[nodiscard]] Diagnostic captured_axis(Span place, std::string_view axis,
                                       std::string_view index);  // E0423

[[nodiscard]] Diagnostic integer_too_large(Span place, std::string_view text);  // E0425
[[nodiscard]] Diagnostic not_elementwise(Span place, std::string_view name);    // E0426
[[nodiscard]] Diagnostic rounds_in_monoid(Span place, std::string_view type);   // E0427

// Warnings.
[[nodiscard]] Diagnostic mask_never_holds(Span place, std::string_view condition);          // W0501
[[nodiscard]] Diagnostic unused(Span place, std::string_view what, std::string_view name);  // W0502
[[nodiscard]] Diagnostic hides_by_a_number(Span place);
[[nodiscard]] Diagnostic index_as_size(Span place, std::string_view axis);  // W0503
[[nodiscard]] Diagnostic folds_the_same(Span place, std::string_view axis,
                                        const std::vector<std::string>& varies);  // W0505

}  // namespace napkin::messages
