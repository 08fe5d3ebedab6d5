// Monoids as code.
#pragma once

#include <string>

#include "codegen/lowering/code_value.h"
#include "diagrams/diagram.h"

namespace napkin::lowering {

[[nodiscard]] kernel::Expression identity_of(MonoidId monoid);
/// `sum`: the end of the names of primitives that fold a value over threads.
[[nodiscard]] std::string across(MonoidId monoid);
/// The primitive that combines two values; a plain one where both are finite.
[[nodiscard]] const char* combine_of(MonoidId monoid, bool finite);
/// What combines two values.
[[nodiscard]] kernel::Expression combined(MonoidId monoid, kernel::Expression a,
                                          kernel::Expression b, bool finite);

}  // namespace napkin::lowering
