// Where in its text a kernel that runs in the emulator is.
#pragma once

#include <cstddef>

#include "codegen/run/emulator.h"

namespace napkin {

/// Of the thread that calls it, as far as its stack can be read.
[[nodiscard]] KernelPlace kernel_place();

/// Tells calls of one function by a kernel apart: threads that are at one call, of the same calls
/// around it, have the same.
using CallSite = std::size_t;
/// Of what called the function that has `frame`, up to the frame that the kernel was entered from.
/// What lies between keeps frame pointers.
[[nodiscard]] CallSite call_site(const void* frame, const void* entered);

}  // namespace napkin
