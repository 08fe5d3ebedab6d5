// Constants, functions and aliases that nothing uses are not printed.
#pragma once

#include "codegen/kernel_tree.h"

namespace napkin::kernel {

/// Removes what no later statement of its scope mentions, and then what only that mentioned.
void drop_unused(Body& body);

}  // namespace napkin::kernel
