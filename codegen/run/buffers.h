// Values of arrays as the bytes that kernels see: the array's layout and type, guard zones on both
// sides, poison where a kernel has to write.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/emit.h"
#include "diagrams/evaluate.h"

namespace napkin {

/// One array in (host) memory, with `kGuardBytes` of canary on each side.
struct Buffer {
    ArrayId array;
    ElementType type = ElementType::F32;
    std::vector<std::int64_t> extents;
    std::vector<std::int64_t> strides;  ///< in elements, by dimension
    std::int64_t elements = 0;
    bool is_input = false;
    std::vector<unsigned char> bytes;  ///< guard, values, guard
    bool operator==(const Buffer&) const = default;
};

inline constexpr std::int64_t kGuardBytes = 256;

/// Bytes that `elements` values of a type take, two 4-bit values a byte.
[[nodiscard]] std::int64_t bytes_for(ElementType type, std::int64_t elements);
/// Buffers for every device array of a program: inputs encoded, the others poisoned.
[[nodiscard]] std::vector<Buffer> make_buffers(const Diagram& diagram,
                                               const EmittedProgram& program,
                                               const Tensors& inputs);
[[nodiscard]] Tensor decode(const Buffer& buffer);
/// A buffer before a run and after it.
struct BufferRun {
    const Buffer& before;
    const Buffer& after;
};
/// Elements that no run changed. An integer may be what the buffer was filled with: another run, of
/// buffers filled otherwise, tells.
[[nodiscard]] std::int64_t count_unchanged(const std::vector<BufferRun>& runs);
/// Fills the integers that a kernel has to write with something else; whether there are any.
bool fill_otherwise(std::vector<Buffer>& buffers);
/// Guard bytes that changed.
[[nodiscard]] std::int64_t count_broken_canaries(const Buffer& buffer);
/// The extents of every axis, by axis.
[[nodiscard]] std::vector<std::int64_t> extents_of(const Diagram& diagram);
/// A diagnostic where the diagram's sizes are not those that the kernel was made for, leave the
/// range of its indices or of a grid, or give strides that its vectors do not divide.
[[nodiscard]] std::optional<Diagnostic> check_contract(const Diagram& diagram,
                                                       const EmittedKernel& kernel);

}  // namespace napkin
