// Where in its text a kernel that runs in the emulator is.
#pragma once

#include "codegen/run/emulator.h"

namespace napkin {

/// Of the thread that calls it, as far as its stack can be read.
[[nodiscard]] KernelPlace kernel_place();

}  // namespace napkin
