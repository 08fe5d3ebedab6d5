// Monoids as code.
#pragma once

#include <string>

#include "codegen/lowering/code_value.h"
#include "diagrams/diagram.h"

namespace napkin::lowering {

[[nodiscard]] std::string identity_of(MonoidId monoid);
/// The code that combines two values.
[[nodiscard]] std::string combined(MonoidId monoid, const std::string& a, const Code& b,
                                   bool finite);

}  // namespace napkin::lowering
