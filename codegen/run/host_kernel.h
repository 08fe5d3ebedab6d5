// Kernels compiled by the host's C++ compiler, for the emulator.
#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "codegen/emit.h"
#include "codegen/prelude/emulator/interface.h"
#include "codegen/run/emulator.h"
#include "diagrams/result.h"

namespace napkin {

/// A loaded shared object; it stays loaded.
struct HostKernel {
    void (*entry)(nk::emulator::Context*, const nk::emulator::Argument*) = nullptr;
};

/// The line of the kernel's text at which a thread was, or nothing where that is not known.
[[nodiscard]] std::optional<int> line_of(const KernelPlace& place);

/// Compiles the kernel's text, or takes it from `cache`. Rejection by the compiler is a bug of ours
/// and throws InternalError with its output.
/// `fuses`: see ExecuteOptions.
[[nodiscard]] Result<HostKernel> compile_for_host(const EmittedKernel& kernel,
                                                  const std::filesystem::path& cache,
                                                  bool fuses = false);
/// Whether this machine has an instruction that multiplies and adds with one rounding.
[[nodiscard]] bool host_fuses();
/// Compiles kernels that `cache` lacks as one text, without optimising: for many kernels
/// that run once, whose compilation is most of the time.
[[nodiscard]] std::optional<Diagnostic> compile_together_for_host(
    std::span<const EmittedKernel> kernels, const std::filesystem::path& cache);

}  // namespace napkin
