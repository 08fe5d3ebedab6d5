// What is known of an expression before the kernel runs.
#pragma once

#include "codegen/kernel_tree.h"

namespace napkin::kernel {

/// The expression with its root's known operands worked in: `x * 1`, `x + 0`, `true && x`, a choice
/// whose condition is known, arithmetic of integers that 32 bits hold. Its parts stay as they are.
[[nodiscard]] Expression folded(Expression expression);
/// The same for every expression of a body, from the inside out.
void fold_constants(Body& body);

}  // namespace napkin::kernel
