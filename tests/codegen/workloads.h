// Diagrams with derivations, at small ragged sizes: what every target must lower.
#pragma once

#include <string>
#include <vector>

#include "diagrams/diagram.h"

namespace napkin::test {

struct Workload {
    std::string name;
    std::string diagram;  ///< a text, or the name of an example
    Sizes sizes;
    std::string derivation;
};

[[nodiscard]] const std::vector<Workload>& workloads();

}  // namespace napkin::test
