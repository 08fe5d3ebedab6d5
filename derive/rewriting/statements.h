// Rewriting what statements say.
#pragma once

#include <map>

#include "diagrams/rewrite_statement.h"

namespace napkin::rules {

/// The statement reading other arrays in place of some.
[[nodiscard]] Statement with_arrays(Statement statement, const std::map<ArrayId, ArrayId>& twins);
/// Calls whose values read some arrays are calls where others stand in their place too.
void spell_copies(Spellings& spellings, const std::map<ArrayId, ArrayId>& twins);

}  // namespace napkin::rules
