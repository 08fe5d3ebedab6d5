#include "codegen/run/emulated_places.h"

#include <execinfo.h>

#include <array>

namespace napkin {

KernelPlace kernel_place() {
    std::array<void*, 32> frames{};
    const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
    return KernelPlace(frames.begin(), frames.begin() + count);
}

}  // namespace napkin
