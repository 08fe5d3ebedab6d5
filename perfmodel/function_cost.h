// What a function costs an element.
#pragma once

#include "diagrams/expression.h"

namespace napkin {

/// In issued instructions, and results of the special function unit.
struct FunctionCost {
    double instructions = 1;
    double special = 0;
};
[[nodiscard]] FunctionCost cost_of_function(Function function);

}  // namespace napkin
