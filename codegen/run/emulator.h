// Runs a kernel that was compiled for the CPU: every thread of a block is a fiber, blocks run one
// after another, all in one thread of the operating system.
//
// Threads take turns in a random but repeatable order, and what is asynchronous ends at random, as
// early or as late as it may. Shared memory starts as NaN in every block. What the kernel's own
// checks, the barriers or the order of accesses find wrong is reported with block, thread and place
// in the kernel.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/prelude/emulator/interface.h"

namespace napkin {

/// Return addresses of a thread in its kernel, the innermost first.
using KernelPlace = std::vector<const void*>;

/// What a kernel did wrong, and where.
struct EmulatorFault {
    std::string message;
    int block = 0;
    int thread = 0;
    KernelPlace place;
    KernelPlace other;  ///< where memory was touched before by whom the message names
    bool operator==(const EmulatorFault&) const = default;
};

struct EmulatedLaunch {
    void (*entry)(nk::emulator::Context*, const nk::emulator::Argument*) = nullptr;
    std::vector<nk::emulator::Argument> arguments;
    std::int64_t blocks = 1;
    int threads = 1;   ///< of a block, a multiple of 32
    int resident = 1;  ///< blocks that share the registers of a multiprocessor
    std::int64_t shared_bytes = 0;
    std::uint64_t seed = 1;  ///< of the order in which threads run
    bool count_accesses = false;
    /// Without, accesses that nothing orders go on with whatever is there.
    bool check_order = true;
};

struct EmulatedRun {
    std::optional<EmulatorFault> fault;
    /// Of shared memory, by AccessKind: matrices always, the others when asked for.
    std::array<nk::emulator::Traffic, nk::emulator::kAccessKinds> traffic;
    [[nodiscard]] const nk::emulator::Traffic& of(nk::emulator::AccessKind kind) const {
        return traffic[static_cast<std::size_t>(kind)];
    }
};

/// Runs all blocks; the first fault ends the launch.
[[nodiscard]] EmulatedRun run_emulated(const EmulatedLaunch& launch);

}  // namespace napkin
