// Arithmetic of a statement: how many operations one element costs.
#pragma once

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
/// How a constant power is computed: kernels do as is counted.
struct PowerSteps {
    enum class By { Products, Root, Logarithm } by = By::Logarithm;
    std::int64_t products = 0;  ///< of a whole power, which repeated squares make
    bool divides = false;       ///< 1 by them: of a negative whole power
    [[nodiscard]] std::int64_t flops() const { return products + (divides ? 1 : 0); }
    /// A root is one operation of the special-function unit, a logarithm and an exponential two.
    [[nodiscard]] std::int64_t exponentials() const {
        return by == By::Products ? 0 : by == By::Root ? 1 : 2;
    }
};
[[nodiscard]] PowerSteps steps_of_power(double exponent);
[[nodiscard]] OperationCounts operations_of(const Statement& statement);

}  // namespace napkin
