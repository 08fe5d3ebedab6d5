// What a function costs an element.
#pragma once

#include "diagrams/expression.h"

namespace napkin {

/// In issued instructions, and results of the special function unit.
struct FunctionCost {
    double instructions = 1;
    double special = 0;
};
/// Of a function whose cost its arguments do not change.
[[nodiscard]] FunctionCost cost_of_function(Function function);
[[nodiscard]] FunctionCost cost_of_call(const Apply& call);

}  // namespace napkin
