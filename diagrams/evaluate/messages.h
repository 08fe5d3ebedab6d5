// The wording of what can be wrong with the values given to a diagram.
#pragma once

#include <string>

#include "diagrams/diagnostic.h"
#include "diagrams/diagram.h"

namespace napkin::messages {

/// E0501: a computed index lies outside its axis.
[[nodiscard]] Diagnostic index_out_of_range(const Diagram& diagram, ArrayId array,
                                            std::size_t dimension, double index, Span span);
/// E0502: an input has no values.
[[nodiscard]] Diagnostic missing_input(const Diagram& diagram, ArrayId array);
/// E0503: an input's values have another shape.
[[nodiscard]] Diagnostic wrong_shape(const Diagram& diagram, ArrayId array,
                                     const std::vector<std::int64_t>& extents);
/// E0504: an input's value is none of its type.
[[nodiscard]] Diagnostic wrong_value(const Diagram& diagram, ArrayId array,
                                     const std::string& where, double value);
/// E0505: an input's value indexes an axis and lies outside it.
[[nodiscard]] Diagnostic index_value_out_of_range(const Diagram& diagram, ArrayId array,
                                                  const std::string& where, double value);
/// E0506: an opaque box has no meaning to evaluate.
[[nodiscard]] Diagnostic opaque_box(const Diagram& diagram, const Statement& statement);

/// `[4, 16]`.
[[nodiscard]] std::string shape_text(const std::vector<std::int64_t>& extents);

}  // namespace napkin::messages
