// Random legal derivations: commands are drawn, and those that the rules refuse are dropped.
#pragma once

#include <map>
#include <random>
#include <string>

#include "derive/state.h"

namespace napkin::test {

/// How often each rule applied and was refused; a property over derivations that never applies a
/// rule shows nothing.
struct RuleCounts {
    std::map<std::string, int> applied;
    std::map<std::string, int> refused;
};

/// Draws `steps` commands from the catalogue and applies those that the rules allow.
[[nodiscard]] State random_derivation(const Diagram& diagram, std::mt19937_64& random, int steps,
                                      RuleCounts& counts);

}  // namespace napkin::test
