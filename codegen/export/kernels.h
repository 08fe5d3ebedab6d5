// The kernels of an export: for arrays of any strides, which are arguments of 64 bits, and beside
// those that pay for it in instructions and registers, others for arrays without gaps.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "codegen/emit.h"

namespace napkin {

struct ExportKernels {
    EmittedProgram program;  ///< for any strides
    /// By kernel of `program`: what takes its place where every array is contiguous by its layout;
    /// nothing where it would know no more of arrays that are read.
    std::vector<std::optional<EmittedKernel>> contiguous;

    /// All kernels by their numbers in the export: those of `program`, and then the others.
    [[nodiscard]] std::vector<const EmittedKernel*> numbered() const;
    /// Of a kernel of `program` with another for contiguous arrays: the number of that one.
    [[nodiscard]] std::size_t contiguous_number(std::size_t kernel) const;
    [[nodiscard]] bool differ() const;  ///< whether there are others
    /// Whether blocks of a kernel draw their tiles by a counter, which the launcher has ready.
    [[nodiscard]] bool count_tiles() const;
    /// Bytes that all addresses are multiples of where those take their places; 1 where they ask no
    /// more of addresses than the kernels for any strides do.
    [[nodiscard]] std::int64_t contiguous_alignment() const;
};

/// Emits both; `emit` is told how.
[[nodiscard]] Result<ExportKernels> emit_for_export(
    const EmitOptions& options,
    const std::function<Result<EmittedProgram>(const EmitOptions&)>& emit);

}  // namespace napkin
