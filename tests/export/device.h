// A device that is none: the functions of the CUDA runtime that exported files call, by the
// emulator. What a launcher passes is decoded by the parameters of the program that is set.
#pragma once

#include <list>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "codegen/prelude/emulator/interface.h"

namespace napkin::test {

/// One launch, as the launcher asked for it.
struct Launch {
    std::string kernel;
    std::int64_t blocks = 0;
    int threads = 0;
    std::size_t shared = 0;
};

/// What the functions do from now on; a fault of a kernel becomes an error of its launch.
struct FakeDevice {
    const EmittedProgram* program = nullptr;  ///< null: launches are only noted
    int capability = 90;
    int shared_memory = 232448;
    int devices = 1;
    int processors = 3;  ///< each of which holds one block
    int knows_maps = 1;  ///< whether the driver has a function for tensor maps
    int makes_maps = 1;  ///< whether that makes any
    std::string fault;
    std::vector<std::string> images;  ///< that were loaded: their texts
    std::vector<Launch> launches;
    std::list<nk::emulator::TensorMap> maps;
};
[[nodiscard]] FakeDevice& fake_device();
/// A function of the driver by its name; null where it has none.
[[nodiscard]] void* fake_entry_point(const std::string& name);

}  // namespace napkin::test
