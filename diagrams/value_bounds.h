// What integers may come to, and which of them a type of reals has.
#pragma once

#include <optional>

#include "diagrams/diagram.h"
#include "diagrams/integer_range.h"

namespace napkin {

/// The bounds of an expression of integers, by the types of what it reads; nullopt where they are
/// not known. An axis whose size is given at run time, or every axis, if `any_size`, may have any
/// that 32 bits hold.
[[nodiscard]] std::optional<Interval> integer_bounds(const Diagram& diagram,
                                                     const Expression& expression,
                                                     bool any_size = false);
/// How many elements some axes have together.
[[nodiscard]] Interval element_count(const Diagram& diagram, const std::vector<AxisId>& axes,
                                     bool any_size = false);
/// The integers of which a type has every one: of a floating one those up to 2 to the power of its
/// significant bits.
[[nodiscard]] Interval exact_integers(ElementType type);

}  // namespace napkin
