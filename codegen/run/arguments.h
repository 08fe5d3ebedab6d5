// What both execution paths share: arguments by value, and results out of buffers.
#pragma once

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
/// Decodes what was computed and compares guards, poison and inputs with what was there before.
void collect_results(const Diagram& diagram, const std::vector<Buffer>& before,
                     const std::vector<Buffer>& after, Execution& execution);

}  // namespace napkin
