// What holds of every kernel before it is printed.
#pragma once

#include "codegen/kernel_program.h"

namespace napkin::kernel {

/// Throws InternalError where the kernel reads a name that nothing declares, writes an array that
/// its parameters do not say is written, declares a name twice in one scope, or runs what no device
/// primitive is.
void verify(const Program& program);

}  // namespace napkin::kernel
