// The laws of monoids that users declare: nothing proves them, random elements look for
// counter-examples. They are such as the diagram's folds make: a count of ones is never negative.
#pragma once

#include <cstdint>
#include <string>

#include "diagrams/diagram.h"

namespace napkin::proof {

/// What does not hold, in words with the elements that show it; empty where nothing was found.
/// Of monoids that some fold asks for, checked are associativity, that the identity is neutral, and
/// commutativity unless the declaration denies it.
[[nodiscard]] std::string broken_law(const Diagram& diagram, std::uint64_t seed);

}  // namespace napkin::proof
