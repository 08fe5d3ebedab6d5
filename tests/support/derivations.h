// The derivations under examples/, at sizes at which a test can run them.
#pragma once

#include <string>
#include <vector>

#include "derive/state.h"

namespace napkin::test {

/// One `.drv` file with its diagram at small, mostly prime sizes.
struct ExampleDerivation {
    std::string name;  ///< of the file, without its ending
    Diagram diagram;
    std::vector<Command> commands;
};

[[nodiscard]] std::vector<ExampleDerivation> example_derivations();

}  // namespace napkin::test
