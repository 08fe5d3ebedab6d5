// Wording of what the model refuses.
#pragma once

#include <cstdint>
#include <string>

#include "diagrams/diagnostic.h"

namespace napkin::messages {

[[nodiscard]] Diagnostic cost_overflows(const std::string& name);
[[nodiscard]] Diagnostic too_many_heads(const std::string& statement, std::int64_t most);
[[nodiscard]] Diagnostic too_many_pairs(const std::string& statement, std::int64_t most);

}  // namespace napkin::messages
