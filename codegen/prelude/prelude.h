// The device primitives as text, embedded in the binary: what NVRTC and the emulator's compiler get
// as headers.
#pragma once

#include <string>
#include <vector>

namespace napkin {

/// One header, by the name under which kernels include it.
struct PreludeFile {
    std::string name;
    std::string text;
};

[[nodiscard]] const std::vector<PreludeFile>& prelude_files();

}  // namespace napkin
