// Calls of the library that an expression still is, as they were written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagrams/diagram.h"

namespace napkin::drawing {

/// A call of the library as it was written, with what now stands for its arguments.
struct Spelled {
    std::string name;
    std::vector<const Expression*> arguments;
};

[[nodiscard]] std::optional<Spelled> spelled(const Diagram& diagram, const Expression& expression);

}  // namespace napkin::drawing
