// Signs and words of formulas in boxes: of functions, folds and selections.
#pragma once

#include <string>

#include "diagrams/diagram.h"

namespace napkin::drawing {

/// As parse_math leaves it: upright, as it stands.
[[nodiscard]] std::string upright(const std::string& text);
/// In as few digits as tell it from others, of single precision where it is exact there.
[[nodiscard]] std::string schematic_number(double value);
/// Between the operands of an operator.
[[nodiscard]] std::string sign_between(Function function);
/// `max_c`, `argmin_k`, `Σ_{r,k}`, `scan affine_t`: the sign of a fold or a selection.
[[nodiscard]] std::string sign_of(const Diagram& diagram, const Statement& statement);

/// Whether operands of a function may change places.
[[nodiscard]] bool commutes(Function function);
/// Whether a selection hides what is not chosen: its other value is the least of all.
[[nodiscard]] bool is_mask(const Apply& call);
/// Whether a selection has zero or the least of all where its condition does not hold.
[[nodiscard]] bool hides(const Apply& call);
/// Whether a selection puts zeros where indices lie outside of what it reads: each part of its
/// condition bounds an index that is computed there.
[[nodiscard]] bool pads(const Apply& call);
/// The least of arg max of a value that is negated.
[[nodiscard]] const Apply* negated(const Expression& value);
/// Whether it reads an array at indices that are axes alone.
[[nodiscard]] bool is_plain_read(const Expression& expression);

}  // namespace napkin::drawing
