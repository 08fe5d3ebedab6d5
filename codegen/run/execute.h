// Executes emitted programs, in the CPU emulator or on a CUDA device, with values in and out as
// tensors.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "codegen/prelude/emulator/interface.h"
#include "codegen/run/compile.h"
#include "diagrams/evaluate.h"

namespace napkin {

struct ExecuteOptions {
    /// Of the order of threads in the emulator and of buffer contents before the run.
    std::uint64_t seed = 1;
    /// Timed repetitions on a device; 0 runs once and does not time.
    int repetitions = 0;
    int warm_up = 3;
    /// Runs on a device to compare bit by bit, beyond the first.
    int repeats = 1;
    int device = 0;
    CompileOptions compile;  ///< the architecture is the device's own
    /// In the emulator, counts how often banks of shared memory conflict.
    bool count_bank_conflicts = false;
    /// In the emulator, ends the run at accesses to shared memory that nothing orders.
    bool check_order = true;
    /// In the emulator, whether products and the sums that they go into are rounded once, as a
    /// GPU's compiler makes one instruction of both; where this machine has one (host_fuses).
    bool fuses = false;
    /// In the emulator, blocks that run at once: the grid of kernels whose blocks take several
    /// tiles.
    std::int64_t resident_blocks = 3;
    /// Where the emulator keeps compiled kernels; empty: `napkin/emulator` under the cache folder.
    std::filesystem::path emulator_cache;
};

/// Time of one kernel, or of all together, in seconds.
struct Timing {
    std::string kernel;  ///< empty for the whole program
    double median = 0;
    double least = 0;
    double most = 0;
    int repetitions = 0;
};

struct Execution {
    Tensors outputs;  ///< every output and every intermediate in device memory
    /// Elements of outputs that still hold the poison after the run.
    std::int64_t never_written = 0;
    /// Bytes that changed in the guard zones around buffers, or in inputs.
    std::int64_t canaries_broken = 0;
    /// Whether repeated runs gave equal bits.
    bool repeatable = true;
    std::vector<Timing> times;
    /// Of all kernels by nk::emulator::AccessKind, where they were asked for.
    std::array<nk::emulator::Traffic, nk::emulator::kAccessKinds> traffic;
    std::vector<CompiledKernel> compiled;  ///< of the CUDA path, without their bytes
    std::string device;                    ///< `emulator`, `NVIDIA H200 (sm_90, driver 13.0)`
};

/// Compiles the printed kernels with the host's C++ compiler and runs them in the emulator. A fault
/// that the emulator finds is an InternalError with block, thread and kernel line; a missing
/// compiler is a diagnostic.
[[nodiscard]] Result<Execution> execute_emulated(const Diagram& diagram,
                                                 const EmittedProgram& program,
                                                 const Tensors& inputs,
                                                 const ExecuteOptions& options = {});
/// Compiles with NVRTC and runs on a CUDA device. Missing NVRTC, driver or device: a diagnostic.
[[nodiscard]] Result<Execution> execute_cuda(const Diagram& diagram, const EmittedProgram& program,
                                             const Tensors& inputs,
                                             const ExecuteOptions& options = {});

/// What `doctor` reports of a device, or why there is none.
struct DeviceStatus {
    std::string name;
    std::string architecture;        ///< `sm_90`
    std::string driver;              ///< `13.0`
    std::int64_t shared_memory = 0;  ///< bytes a block may opt in to
    std::int64_t processors = 0;
    std::string missing;  ///< one line; empty when it is there
};
[[nodiscard]] DeviceStatus device_status(int device = 0);
/// The emulator's compiler, or why there is none.
struct HostCompilerStatus {
    std::string command;
    std::string missing;
};
[[nodiscard]] HostCompilerStatus host_compiler_status();

}  // namespace napkin
