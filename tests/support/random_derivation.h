// Random derivations: commands are drawn, and those that the rules refuse are dropped.
#pragma once

#include <random>

#include "derive/state.h"

namespace napkin::test {

/// Of any rule; or, every other time, the next of what makes most kernels: fused, in small groups,
/// in small chunks.
enum class Commands { Any, AlongTheWay };

/// A command that names what the state has, weighted towards the rules that build kernels, so that
/// a few steps get somewhere. The rules may refuse it.
[[nodiscard]] Command random_command(const State& state, std::mt19937_64& random,
                                     Commands commands = Commands::Any);

/// Draws `steps` commands and applies those that the rules allow.
[[nodiscard]] State random_derivation(const Diagram& diagram, std::mt19937_64& random, int steps);

/// The commands of a state's steps, one a line.
[[nodiscard]] std::string steps_text(const State& state);

/// Takes a step at l1, of a size where that is not 0, in the region of that name or in all; leaves
/// the state where it is refused.
void take_step(State& state, const char* rule, const std::string& name, std::int64_t size,
               const std::string& in = "");

}  // namespace napkin::test
