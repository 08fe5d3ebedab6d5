// Inputs that tests change.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "diagrams/evaluate.h"

namespace napkin::test {

/// Makes one element of a real input a NaN, which one by the seed; false where there is none.
inline bool plant_nan(const Diagram& diagram, std::uint64_t seed, Tensors& inputs) {
    std::vector<Tensor*> real;
    for (auto& [array, tensor] : inputs)
        if (is_floating(diagram[array].type) && !tensor.values.empty()) real.push_back(&tensor);
    if (real.empty()) return false;
    std::vector<double>& values = real[seed % real.size()]->values;
    values[(seed * 7919) % values.size()] = std::numeric_limits<double>::quiet_NaN();
    return true;
}

}  // namespace napkin::test
