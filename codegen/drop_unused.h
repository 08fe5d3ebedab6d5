// Constants that nothing uses are not printed.
#pragma once

#include "codegen/kernel_program.h"

namespace napkin::kernel {

/// Removes constants that no later statement of their scope mentions, and then those that only they
/// mentioned.
void drop_unused(Body& body);

}  // namespace napkin::kernel
