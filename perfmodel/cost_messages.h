// Wording of what the model refuses.
#pragma once

#include <string>

#include "diagrams/diagnostic.h"

namespace napkin::messages {

[[nodiscard]] Diagnostic cost_overflows(const std::string& name);

}  // namespace napkin::messages
