// Sums of amounts, in all their forms.
#pragma once

#include "perfmodel/cost.h"

namespace napkin {

[[nodiscard]] Amount nothing();
/// False where a number no longer fits in 64 bits.
[[nodiscard]] bool add(const Amount& amount, Amount& total);
/// A size in place of a symbol of the ideal forms.
void substitute_size(Amount& amount, Symbol symbol, std::int64_t size);

}  // namespace napkin
