// Expressions that are the same but for the names of axes, and reads replaced by what they read.
#pragma once

#include <map>
#include <optional>

#include "diagrams/diagram.h"

namespace napkin::rules {

/// What each axis of a pattern stands for.
using Binding = std::map<AxisId, Expression>;

/// The expression with axes replaced by index expressions.
[[nodiscard]] Expression with_axes(const Expression& expression, const Binding& binding);
/// Whether the pattern with its axes bound is the target; adds to the binding.
[[nodiscard]] bool matches(const Expression& pattern, const Expression& target, Binding& binding);
/// Whether the binding gives different axes of a pattern different axes.
[[nodiscard]] bool renames_axes(const Binding& binding);
/// What an array is at these indices, where a map defines it that does not round.
[[nodiscard]] std::optional<Expression> opened_map(const Diagram& diagram, const Read& element);

}  // namespace napkin::rules
