// Moves that a refusal may name, because they were tried.
#pragma once

#include <functional>
#include <vector>

#include "codegen/emit.h"
#include "derive/state.h"

namespace napkin {

/// The shared memory that the kernel of a region needs in a state; nothing where it has none.
using Need = std::function<std::optional<std::int64_t>(const State&)>;

/// Commands that apply to the state one after the other and after which the region's kernel needs
/// no more shared memory than the options have; empty where none were found.
[[nodiscard]] std::vector<Command> helpful_moves(const State& state, const std::string& region,
                                                 const EmitOptions& options, const Need& need);

}  // namespace napkin
