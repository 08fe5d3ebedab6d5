// Proof that every access is inside its array under the conditions around it.
#pragma once

#include "diagrams/check/context.h"

namespace napkin::checking {

/// Whether every access of an expression is proved inside, using its own conditions only.
[[nodiscard]] bool accesses_proved(const Diagram& diagram, const Expression& expression);

}  // namespace napkin::checking
