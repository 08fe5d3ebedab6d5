// Moves that a refusal may name, because they were tried.
#pragma once

#include <vector>

#include "codegen/emit.h"
#include "derive/state.h"

namespace napkin {

/// Commands that apply to the state one after the other and after which the region fits the target;
/// empty where none were found.
[[nodiscard]] std::vector<Command> helpful_moves(const State& state, const std::string& region,
                                                 const EmitOptions& options);

}  // namespace napkin
