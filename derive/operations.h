// Arithmetic of a statement: how many operations one element costs.
#pragma once

#include <optional>

#include "diagrams/diagram.h"

namespace napkin {

/// Operations of one statement. A statement runs its values once for every index of its targets and
/// folded axes (`each`), and what does not vary along the folded axes once for every index of its
/// targets (`once`). A contraction of two arrays is 2 flops in `each`: one multiplication, one
/// addition.
struct OperationCounts {
    std::int64_t flops_each = 0;
    std::int64_t flops_once = 0;
    std::int64_t exponentials_each =
        0;  ///< exp, log, tanh, erf, rsqrt, sqrt: the special-function unit's work
    std::int64_t exponentials_once = 0;
    bool operator==(const OperationCounts&) const = default;
};
/// How many factors a power is a product of; nullopt where it is computed otherwise. Kernels do as
/// is counted.
[[nodiscard]] std::optional<int> factors_of_power(double exponent);
[[nodiscard]] OperationCounts operations_of(const Statement& statement);

}  // namespace napkin
