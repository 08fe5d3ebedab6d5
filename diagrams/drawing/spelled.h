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
/// Likewise as a call of one operation, which may be a definition of the file.
[[nodiscard]] std::optional<Spelled> spelled_as(const Diagram& diagram, const std::string& name,
                                                const Expression& expression);

}  // namespace napkin::drawing
