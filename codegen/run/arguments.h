// What both execution paths share: arguments by value, and results out of buffers.
#pragma once

#include <functional>
#include <vector>

#include "codegen/run/buffers.h"
#include "codegen/run/execute.h"

namespace napkin {

/// The value of a parameter that is passed by value, as an integer and as a real.
struct ScalarArgument {
    std::int64_t integer = 0;
    double real = 0;
};
[[nodiscard]] ScalarArgument scalar_argument(const Diagram& diagram,
                                             const KernelParameter& parameter,
                                             const Tensors& inputs);
[[nodiscard]] Buffer& buffer_of(std::vector<Buffer>& buffers, ArrayId array);
/// Decodes what was computed and compares guards, outputs and inputs with what was there before.
void collect_results(const Diagram& diagram, const std::vector<Buffer>& before,
                     const std::vector<Buffer>& after, Execution& execution);

/// Runs kernels on buffers in place.
using RunBuffers = std::function<void(std::vector<Buffer>&)>;
/// Where a run left elements of outputs as they were: how many it left in another one too, of
/// buffers that were filled otherwise.
[[nodiscard]] std::int64_t never_written(const Diagram& diagram, const std::vector<Buffer>& before,
                                         const std::vector<Buffer>& after, const RunBuffers& run);

}  // namespace napkin
